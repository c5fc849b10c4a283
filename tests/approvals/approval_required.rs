//! Calls that require approval, and their messages.

use crate::approvals::support::{Home, PipedRun, RunOutput};
use serde_json::{Value, json};

/// A definition in JSON with a function that has these members too, and settings of its capability.
fn definition(function: Value, config: &Value) -> Value {
    let mut written = json!({
        "name": "remove", "description": "Delete a file", "returns": "string",
        "parameters": { "path": { "type": "string", "required": true }, "deep": { "type": "boolean", "required": false } },
    });
    written.as_object_mut().unwrap().extend(function.as_object().unwrap().clone());
    json!({ "name": "files", "functions": [written], "config": config })
}

/// A project with that definition under a policy.
fn home(definition: &Value, policy: &Value) -> Home {
    let home = Home::new();
    home.write("tools/files.json", &definition.to_string());
    home.write("tools/files.ts", "export const remove = ({ path }) => `removed ${path}`;");
    home.configure(&json!({ "capabilities": { "global": ["./tools/files.json"] }, "policy": policy }));
    home
}

const SCRIPT: &str =
    "import { files } from '@capabilities/files';\nexport default await files.remove({ path: 'a.txt' });";

/// Runs the script, and approves whatever it asks.
fn approved(definition: &Value, policy: &Value) -> RunOutput {
    let ended = PipedRun::starts(&home(definition, policy), SCRIPT, &[]).answers_all(&json!({ "decision": "approve" }));
    assert_eq!(ended.value(), "removed a.txt");
    ended
}

fn messages(ended: &RunOutput) -> Vec<Value> {
    ended.events("approvalRequired").iter().map(|asked| asked["message"].clone()).collect()
}

#[test]
fn a_message_template_is_filled_with_parameters() {
    let function = json!({ "requiresApproval": true, "approvalMessage": "Delete {{path}}? Deep: {{deep}} {{x}}" });
    let ended = approved(&definition(function, &json!({})), &json!({}));
    assert_eq!(messages(&ended), ["Delete a.txt? Deep: (none) (none)"]);
}

/// A program that shows the event to a person shows one line, in which everything can be seen.
#[test]
fn a_message_is_one_line_for_any_parameters() {
    let function = json!({ "requiresApproval": true, "approvalMessage": "Delete {{path}}?" });
    let script = r"import { files } from '@capabilities/files';
        export default await files.remove({ path: 'a\u001b[2J\r\n\nApproved: yes\u2028\u202e\u200b.txt' });";
    let run = PipedRun::starts(&home(&definition(function, &json!({})), &json!({})), script, &[]);
    let ended = run.answers_all(&json!({ "decision": "approve" }));
    assert_eq!(messages(&ended), ["Delete a<U+001B>[2J Approved: yes <U+202E><U+200B>.txt?"]);
    // The request has the exact parameters.
    let asked = &ended.events("approvalRequired")[0];
    assert_eq!(asked["params"]["path"], "a\u{1b}[2J\r\n\nApproved: yes\u{2028}\u{202e}\u{200b}.txt");
}

#[test]
fn capability_settings_apply_to_its_functions_unless_overridden() {
    let config = json!({ "requiresApproval": true, "approvalMessage": "Touch {{path}}?" });
    assert_eq!(messages(&approved(&definition(json!({}), &config), &json!({}))), ["Touch a.txt?"]);
    let own = definition(json!({ "requiresApproval": false }), &config);
    assert_eq!(messages(&approved(&own, &json!({}))), Vec::<Value>::new());
}

#[test]
fn policy_rules_require_or_waive_approval() {
    let plain = definition(json!({}), &json!({}));
    let rule = |rule: Value| json!({ "functions": rule });
    for asks in [json!({ "files.remove": "approve" }), json!({ "files.*": { "requiresApproval": true } })] {
        assert_eq!(messages(&approved(&plain, &rule(asks))), ["Allow files.remove?"]);
    }
    let more_specific = json!({ "files.*": "approve", "files.remove": "allow" });
    for allows in [json!({}), more_specific] {
        assert_eq!(messages(&approved(&plain, &rule(allows))), Vec::<Value>::new());
    }
}

#[test]
fn presets_require_approval_of_handlers_as_documented() {
    let says = |value: Option<bool>| {
        let function = value.map_or_else(|| json!({}), |value| json!({ "requiresApproval": value }));
        definition(function, &json!({}))
    };
    for (preset, said, asks) in [
        ("restrictive", None, 1),
        ("restrictive", Some(false), 1),
        ("standard", None, 1),
        ("standard", Some(false), 0),
        ("permissive", None, 0),
        ("permissive", Some(true), 1),
    ] {
        assert_eq!(messages(&approved(&says(said), &json!(preset))).len(), asks, "{preset} {said:?}");
    }
}

/// A call that cannot be made is refused before anybody is asked about it.
#[test]
fn refused_calls_do_not_ask_for_approval() {
    let asks = definition(json!({ "requiresApproval": true }), &json!({}));
    let rule = json!({ "functions": { "files.remove": { "arguments": { "path": { "matches": "tmp/*" } } } } });
    let denied = PipedRun::starts(&home(&asks, &rule), SCRIPT, &[]).answers_all(&json!({ "decision": "approve" }));
    assert_eq!((denied.code().as_str(), messages(&denied).len()), ("call.denied", 0), "{denied:?}");
    let invalid = SCRIPT.replace("'a.txt'", "7");
    let refused =
        PipedRun::starts(&home(&asks, &json!({})), &invalid, &[]).answers_all(&json!({ "decision": "approve" }));
    assert_eq!((refused.code().as_str(), messages(&refused).len()), ("call.invalid", 0), "{refused:?}");
}

/// Until it is approved nothing is done, and after it was denied nothing is done either.
#[test]
fn a_file_is_deleted_only_after_approval() {
    let home = Home::configured(&json!({ "policy": { "functions": { "fs.delete": "approve" } } }));
    home.write("workspace/old.txt", "old");
    let file = home.project("workspace/old.txt");
    let script = "import { fs } from '@agent-spaces/std';\nawait fs.delete('old.txt');";
    for (decision, is_there) in [("deny", true), ("approve", false)] {
        let mut run = PipedRun::starts(&home, script, &["--workspace", "workspace"]);
        let (id, asked) = run.asks();
        assert_eq!((&asked["capability"], &asked["function"]), (&json!("fs"), &json!("delete")));
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(file.exists(), "it was done before anybody decided");
        run.decides(&id, decision);
        let ended = run.ends();
        assert_eq!(file.exists(), is_there, "{decision}: {ended:?}");
    }
}

/// An async message is awaited; one that is not text is replaced by the default.
#[test]
fn a_message_function_may_be_async_and_must_return_text() {
    let plain = "Allow files.remove?";
    for (message, asked) in [
        ("async ({ path }) => `Delete ${path}?`", "Delete a.txt?"),
        ("() => ({ toString: () => 'Read a harmless file?' })", plain),
        ("() => 7", plain),
        ("() => { throw new Error('no words') }", plain),
    ] {
        let home = Home::new();
        let definition = format!(
            "import {{ defineTool }} from '@agent-spaces/capabilities';
             export const files = defineTool({{ name: 'files', functions: {{ remove: {{
               description: 'Delete a file', parameters: {{ path: {{ type: 'string', required: true }} }},
               returns: {{}} as string, requiresApproval: true, approvalMessage: {message},
               handler: async ({{ path }}) => `removed ${{path}}`,
             }} }} }});"
        );
        home.write("tools/files.ts", &definition);
        home.configure(&json!({ "capabilities": { "global": ["./tools/files.ts"] } }));
        let ended = PipedRun::starts(&home, SCRIPT, &[]).answers_all(&json!({ "decision": "approve" }));
        assert_eq!((messages(&ended), ended.value()), (vec![json!(asked)], json!("removed a.txt")), "{message}");
    }
}
