//! Manifest of a program, without what its caller may not see.

use crate::limits::RunLimits;
use crate::source::Assembled;
use agent_spaces_sandbox::program::Program;
use agent_spaces_space::manifest::Manifest;
use serde_json::{Value, json};

/// Returns the manifest of a program with the limits of its runs. What only the operator may know is left out for others:
/// functions that their caller may not call, rules, providers, folders of the machine.
pub(super) fn shown(assembled: &Assembled, program: &Program, limits: &RunLimits, is_operator: bool) -> Value {
    let mut manifest = assembled.space.manifest(program);
    if !is_operator {
        hide(&mut manifest, |interface, function| program.hidden().has(interface, function));
    }
    let mut value = assembled.reach.manifest_json(&manifest);
    value["limits"] = json!(limits);
    if !is_operator {
        strip(&mut value);
    }
    value
}

/// Removes functions, and interfaces without others.
fn hide(manifest: &mut Manifest, is_hidden: impl Fn(&str, &str) -> bool) {
    for interface in &mut manifest.interfaces {
        interface.functions.retain(|each| !is_hidden(each.function_id.interface(), each.function_id.function()));
    }
    manifest.interfaces.retain(|interface| !interface.functions.is_empty());
}

/// Removes what only the operator may know.
fn strip(manifest: &mut Value) {
    let interfaces = manifest.get_mut("interfaces").and_then(Value::as_array_mut).into_iter().flatten();
    let functions = interfaces.filter_map(|interface| interface.get_mut("functions")?.as_array_mut()).flatten();
    for function in functions.filter_map(Value::as_object_mut) {
        function.remove("because");
        function.remove("terms");
        if let Some(provider) = function.get_mut("provider").and_then(Value::as_object_mut) {
            provider.remove("description");
        }
    }
    if let Some(files) = manifest.get_mut("files").and_then(Value::as_object_mut) {
        files.remove("workspace");
    }
}

#[cfg(test)]
mod tests {
    use super::strip;
    use serde_json::json;

    #[test]
    fn callers_do_not_see_rules_providers_and_folders() {
        let mut manifest = json!({
            "script": "pay.ts",
            "interfaces": [{ "interface": "a:bank/bank@1.0.0", "functions": [{
                "function": "bank.pay", "decision": "approve", "because": "$.policy", "terms": ["at most 5"],
                "provider": { "kind": "command", "description": "/usr/bin/pay" },
            }] }],
            "files": { "workspace": "/home/ann/files", "read": true },
        });
        strip(&mut manifest);
        let expected = json!({
            "script": "pay.ts",
            "interfaces": [{ "interface": "a:bank/bank@1.0.0", "functions": [{
                "function": "bank.pay", "decision": "approve", "provider": { "kind": "command" },
            }] }],
            "files": { "read": true },
        });
        assert_eq!(manifest, expected);
    }
}
