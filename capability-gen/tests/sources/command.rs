use crate::sources::{one, refused};
use capability_gen::implementation::{CommandArgument, CommandInput, CommandOutput, Implementation};
use serde_json::{Value, json};

fn tool(command: Value) -> Value {
    json!({ "name": "git", "functions": [{
        "name": "log",
        "parameters": {
            "type": "object",
            "properties": {
                "count": { "type": "integer" },
                "paths": { "type": "array", "items": { "type": "string" } },
                "range": { "$ref": "#/$defs/range" },
                "any": {}
            },
            "$defs": { "range": { "type": "object", "properties": { "from": { "type": "string" } } } }
        },
        "command": command
    }] })
}

#[test]
fn a_command_is_read_completely() {
    let definition = one(&tool(json!({
        "program": "git",
        "args": ["log", "-n{{count}}", { "value": "{{range.from}}", "mayBeginWithDash": true },
            { "literal": "{{json .}}" }, "--", "{{paths}}"],
        "stdin": { "json": { "all": "{{any.what.ever}}", "n": 1 } },
        "output": "lines", "cwd": "../repo", "timeout": "2min", "env": ["GIT_TOKEN"],
        "exitCodes": { "1": { "isAnswer": true }, "128": { "message": "no repository", "retryable": true } }
    })));
    let Some(Implementation::Command(command)) = &definition.functions[0].implementation else { panic!() };
    assert_eq!(
        command.words().collect::<Vec<_>>(),
        ["git", "log", "-n{{count}}", "{{range.from}}", "{{json .}}", "--", "{{paths}}"]
    );
    assert_eq!(command.args[0], CommandArgument::Literal("log".into()));
    assert_eq!(command.args[3], CommandArgument::Literal("{{json .}}".into()));
    assert!(matches!(command.args[2], CommandArgument::Template { may_begin_with_dash: true, .. }));
    assert!(matches!(command.args[5], CommandArgument::Template { may_begin_with_dash: false, .. }));
    assert!(matches!(command.stdin, Some(CommandInput::Json(_))));
    assert_eq!((command.output, command.timeout_ms), (CommandOutput::Lines, Some(120_000)));
    assert_eq!(
        (command.cwd.as_deref(), command.env.as_slice()),
        (Some("../repo"), ["GIT_TOKEN".to_owned()].as_slice())
    );
    assert!(command.exit_codes[&1].is_answer && command.exit_codes[&128].retryable);
}

/// Stored modules are deserialized again.
#[test]
fn a_command_round_trips_through_serde() {
    let definition =
        one(&tool(json!({ "program": "./x", "args": ["{{count}}", "a"], "stdin": { "text": "{{any}}" } })));
    let implementation = definition.functions[0].implementation.clone().unwrap();
    let text = serde_json::to_string(&implementation).unwrap();
    assert_eq!(serde_json::from_str::<Implementation>(&text).unwrap(), implementation);
}

#[test]
fn invalid_commands_are_refused_at_their_place() {
    let at = |path: &str| format!("$.functions[0].command{path}");
    for (command, path, message, fix) in [
        (json!("git log"), "", "\"command\" is text", "an object"),
        (json!({}), "", "no \"program\"", "Name the program"),
        (json!({ "program": "git", "arg": [] }), ".arg", "not a key of a command", "Did you mean \"args\"?"),
        (json!({ "program": "{{any}}" }), ".program", "cannot have a placeholder", "literal text"),
        (json!({ "program": "" }), ".program", "invalid path", "path"),
        (json!({ "program": "x", "cwd": "{{any}}" }), ".cwd", "cannot have a placeholder", "literal text"),
        (json!({ "program": "x", "args": "a" }), ".args", "is text", "an array"),
        (
            json!({ "program": "x", "args": ["{{cout}}"] }),
            ".args[0]",
            "no parameter \"cout\"",
            "Did you mean {{count}}?",
        ),
        (
            json!({ "program": "x", "args": ["{{range.to}}"] }),
            ".args[0]",
            "no parameter \"range.to\"",
            "Did you mean {{range}}?",
        ),
        (json!({ "program": "x", "args": ["{{count"] }), ".args[0]", "has no `}}` after it", "{{name}}"),
        (json!({ "program": "x", "args": ["a\0b"] }), ".args[0]", "NUL byte", "Remove"),
        (json!({ "program": "x", "args": [{}] }), ".args[0]", "invalid argument", "literal"),
        (
            json!({ "program": "x", "args": [{ "literal": "a", "mayBeginWithDash": true }] }),
            ".args[0]",
            "invalid argument",
            "value",
        ),
        (json!({ "program": "x", "args": ["x".repeat(20_000)] }), ".args[0]", "more than 8192", "Shorten"),
        (json!({ "program": "x", "args": vec!["a"; 300] }), ".args", "more than 256", "fewer"),
        (json!({ "program": "x", "stdin": "all" }), ".stdin", "invalid standard input", "params"),
        (json!({ "program": "x", "stdin": { "json": 1, "text": "a" } }), ".stdin", "one of", "params"),
        (
            json!({ "program": "x", "stdin": { "json": [{ "a": "{{no}}" }] } }),
            ".stdin.json[0].a",
            "no parameter \"no\"",
            "Name",
        ),
        (
            json!({ "program": "x", "output": "jsn" }),
            ".output",
            "unknown output format \"jsn\"",
            "Did you mean \"json\"?",
        ),
        (json!({ "program": "x", "timeout": "soon" }), ".timeout", "invalid timeout", "30s"),
        (json!({ "program": "x", "timeout": 0 }), ".timeout", "invalid timeout", "30s"),
        (json!({ "program": "x", "timeout": "99h" }), ".timeout", "invalid timeout", "24h"),
        (json!({ "program": "x", "env": ["A=b"] }), ".env[0]", "name of an environment variable", "configuration"),
        (json!({ "program": "x", "env": { "A": "b" } }), ".env", "is an object", "an array"),
        (json!({ "program": "x", "exitCodes": { "0": {} } }), ".exitCodes[\"0\"]", "invalid exit status", "1 to 255"),
        (
            json!({ "program": "x", "exitCodes": { "1": { "isAnswer": true, "message": "m" } } }),
            ".exitCodes[\"1\"]",
            "contradicts",
            "Remove",
        ),
        (
            json!({ "program": "x", "exitCodes": { "1": { "mesage": "m" } } }),
            ".exitCodes[\"1\"].mesage",
            "not a key",
            "message",
        ),
    ] {
        refused(&tool(command), &at(path), message, fix);
    }
    let mut both = tool(json!({ "program": "x" }));
    both["functions"][0]["script"] = json!({ "file": "a.ts" });
    refused(&both, "$.functions[0].script", "the function already has an implementation", "Leave one");
}

#[test]
fn a_schema_with_many_circular_references_is_read_quickly() {
    let mut tool = tool(json!({ "program": "x", "args": ["{{a.a.a.a.a.a.a.a}}"] }));
    let references: Vec<Value> = (0..31).map(|_| json!({ "$ref": "#" })).collect();
    tool["functions"][0]["parameters"] =
        json!({ "type": "object", "properties": { "a": { "anyOf": references } }, "required": ["a"] });
    crate::budget::ends_soon("references", move || drop(one(&tool)));
}
