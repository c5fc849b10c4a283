//! Function identity: interface and name, not the label in scripts. The standard library has an `fs.delete`, and so has
//! a module of the project.

use super::rig::{ScriptedApprover, rules};
use agent_spaces::{
    Call, Caller, FunctionId, Handlers, HostError, Interfaces, Package, PackageOutline, RunOptions, Space,
    StandardLibrary,
};
use agent_spaces_approvals::{Decision, Lasts};
use agent_spaces_policy::{Policy, Settings};
use agent_spaces_tests::engine;
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::model::Module;
use capability_gen::sources::{Format, parse_value};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const OWN: &str = "capabilities:fs/fs#delete";
const LIBRARY: &str = "agent-spaces:std/fs#delete";

const BOTH: &str = "import { fs } from '@agent-spaces/std';
import { fs as own } from '@capabilities/fs';
const tried = async (call) => { try { await call(); return 'done' } catch (error) { return error.code } };
export default [await tried(() => own.delete({ path: 'a' })), await tried(() => fs.delete('a'))];";

fn module(name: &str, source: Value, format: Option<Format>) -> Module {
    let definitions = parse_value(name, &source, format.is_some().then_some(name), format).unwrap();
    compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap()
}

/// A module with a function that has a name of the library's.
fn own() -> Module {
    let path = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let functions = json!([
        { "name": "delete", "description": "Deletes", "parameters": path },
        { "name": "recover", "description": "Brings back", "parameters": path },
    ]);
    module("fs", json!({ "name": "fs", "description": "Files elsewhere", "functions": functions }), None)
}

struct Both {
    space: Space,
    /// The interfaces of what was called, but for the library's.
    called: Arc<Mutex<Vec<String>>>,
    _workspace: tempfile::TempDir,
}

fn both(settings: Settings) -> Both {
    try_both(settings).unwrap_or_else(|error| panic!("{error}"))
}

/// A space with that module and the library, under some rules.
fn try_both(settings: Settings) -> Result<Both, HostError> {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("a"), "").unwrap();
    let (mut interfaces, mut handlers) = (Interfaces::new()?, Handlers::new());
    let called = Arc::new(Mutex::new(Vec::new()));
    for interface in PackageOutline::of(&own()).interfaces {
        let called = called.clone();
        handlers.add_interface(interface.name, move |call: Call| {
            called.lock().unwrap().push(call.interface.to_string());
            async { Ok(json!(null)) }
        });
    }
    interfaces.add_package(Package::new(own()))?;
    let policy = Arc::new(Policy::new(settings));
    let library = StandardLibrary::new(&policy, Some(workspace.path()), None).unwrap();
    let space =
        Space::builder(&engine()).interfaces(interfaces, handlers).capability(library).policy(policy).build()?;
    Ok(Both { space, called, _workspace: workspace })
}

impl Both {
    async fn outcomes(&self) -> Value {
        let program = self.space.prepare("agent.js", BOTH).unwrap_or_else(|error| panic!("{error}"));
        program.run(RunOptions::default()).await.outcome.unwrap()
    }
}

#[tokio::test]
async fn preapproval_covers_one_function() {
    for (approved, expected) in
        [(OWN, json!(["done", "call.approval_denied"])), (LIBRARY, json!(["call.approval_denied", "done"]))]
    {
        let both = both(rules(json!({ "*": "approve" })));
        both.space.approvals().approve(both.space.identify(approved).unwrap());
        assert_eq!(both.outcomes().await, expected, "{approved}");
    }
    // The label alone is ambiguous.
    let error = both(Settings::default()).space.identify("fs.delete").unwrap_err();
    assert!(error.message.contains("agent-spaces:std/fs@1.0.0#delete of '@agent-spaces/std'"), "{error}");
    assert!(error.message.contains("capabilities:fs/fs@1.0.0#delete of '@capabilities/fs'"), "{error}");
}

#[tokio::test]
async fn an_approval_for_the_run_does_not_cover_another_function_of_the_same_label() {
    let both = both(rules(json!({ "*": "approve" })));
    let person =
        ScriptedApprover::new([Ok(Decision::approve("ada").lasting(Lasts::Run)), Ok(Decision::deny("ada", None))]);
    both.space.approvals().ask(person.clone());
    assert_eq!(both.outcomes().await, json!(["done", "call.approval_denied"]));
    let asked = person.asked.lock().unwrap();
    let shown: Vec<_> = asked.iter().map(|it| (it.label(), it.module.as_str(), it.function_id.to_string())).collect();
    assert_eq!(
        shown,
        [
            ("fs.delete".to_owned(), "@capabilities/fs", "capabilities:fs/fs@1.0.0#delete".to_owned()),
            ("fs.delete".to_owned(), "@agent-spaces/std", "agent-spaces:std/fs@1.0.0#delete".to_owned()),
        ]
    );
    assert_ne!(asked[0].digest, asked[1].digest);
    assert!(asked.iter().all(|request| !request.source.is_empty()));
    // Each with the lines that call it, and not those that call the other.
    let lines: Vec<_> = asked.iter().map(|request| request.places.clone()).collect();
    assert_eq!(lines, [["agent.js:4"], ["agent.js:4"]]);
}

#[tokio::test]
async fn a_full_name_rule_matches_only_its_function() {
    for (rule, expected) in [(OWN, json!(["call.denied", "done"])), (LIBRARY, json!(["done", "call.denied"]))] {
        let both = both(rules(json!({ rule: "deny" })));
        assert_eq!(both.outcomes().await, expected, "{rule}");
        assert_eq!(both.called.lock().unwrap().len(), usize::from(rule == LIBRARY));
    }
}

/// Else the rule would be about whichever the host finds first.
#[tokio::test]
async fn an_ambiguous_label_in_a_rule_is_refused() {
    for rule in ["fs.delete", "fs.*", "fs"] {
        let Err(error) = try_both(rules(json!({ rule: "allow" }))) else { panic!("{rule}") };
        assert!(matches!(error, HostError::AmbiguousRule(_)), "{error}");
        let message = error.to_string();
        assert!(message.contains("agent-spaces:std/fs#") && message.contains("capabilities:fs/fs#"), "{message}");
    }
    // A label that only one module has is unambiguous.
    assert_eq!(both(rules(json!({ "fs.mkdir": "deny", "*": "allow" }))).outcomes().await, json!(["done", "done"]));
}

#[tokio::test]
async fn the_host_calls_by_identity_and_not_by_an_ambiguous_label() {
    let both = both(Settings::default());
    let by_label = both.space.call_value("fs", "delete", json!({ "path": "a" }), Caller::default()).await;
    assert!(by_label.unwrap_err().message.contains("is ambiguous"));
    let own = FunctionId::parse("capabilities:fs/fs@1.0.0#delete").unwrap();
    both.space.call_function(&own, json!({ "path": "a" }), Caller::default()).await.unwrap();
    assert_eq!(*both.called.lock().unwrap(), ["capabilities:fs/fs@1.0.0"]);
    let library = FunctionId::parse("agent-spaces:std/fs@1.0.0#delete").unwrap();
    both.space.call_function(&library, json!({ "path": "a" }), Caller::default()).await.unwrap();
    assert_eq!(both.called.lock().unwrap().len(), 1);
}

/// The loader refuses two capabilities of one name; so does whoever puts a space together without it.
#[test]
fn module_exports_do_not_collide_with_each_other_or_the_library() {
    let tools = json!({ "tools": [{ "name": "now", "inputSchema": {} }] });
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add_package(Package::new(own())).unwrap();
    // A server may have a name of the library's, in a module of its own.
    interfaces.add_package(Package::new(module("time", tools.clone(), Some(Format::Mcp)))).unwrap();
    let same = "package other:fs@1.0.0; interface fs { delete: async func() -> result<u32, string>; }";
    let error = interfaces.add("other.wit", same).unwrap_err();
    assert!(matches!(error, HostError::Duplicate(_)), "{error}");
    assert!(error.to_string().contains("of '@other/fs' and of '@capabilities/fs'"), "{error}");
    let error = interfaces.add_package(Package::new(module("fs", tools.clone(), Some(Format::Mcp)))).unwrap_err();
    assert!(matches!(error, HostError::Duplicate(_)), "{error}");
    // Nor does a definition say that it is the library.
    let definitions = parse_value("x", &tools, Some("x"), Some(Format::Mcp)).unwrap();
    for specifier in ["@agent-spaces/std", "@agent-spaces/more"] {
        let source = ModuleSource { specifier: Some(specifier.into()), stem: None, definitions: definitions.clone() };
        let error = Interfaces::new().unwrap().add_package(Package::new(compile(source).unwrap())).unwrap_err();
        assert!(error.to_string().contains("is reserved for the host"), "{error}");
    }
}
