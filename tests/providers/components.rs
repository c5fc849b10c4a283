//! Handlers compiled into a component, and invalid components.

use crate::standard::support::Project;
use serde_json::{Value, json};

const HANDLERS: &str = "
    const region = 'REGION' in process.env ? process.env.REGION : 'nowhere';
    let calls = 0;
    export const note = async ({ text, count, tags }) => {
        calls += 1;
        if (text === 'own') throw new CapabilityError('not there', { code: 'desk.missing', details: { text } });
        if (text === 'throw') throw new RangeError('too far');
        if (text === 'wrong') return { text: 5 };
        if (text === 'loop') for (;;);
        if (text === 'fetch') return { text: await (await fetch('https://example.com')).text(), count: 0 };
        if (text === 'given') return { text: `${region} ${process.env.REGION} ${Object.keys(process.env)}`, count: 0 };
        if (text === 'env') return { text: process.env.HOME, count: 0 };
        return { text, count: (count ?? 0) + calls, tags, more: { deep: [null, true] } };
    };";

fn definition(more: Value) -> String {
    let text = json!({ "type": "string" });
    let properties =
        json!({ "text": text, "count": { "type": "integer" }, "tags": { "type": "array", "items": text } });
    let mut definition = json!({ "name": "desk", "functions": [{
        "name": "note", "description": "Notes",
        "parameters": { "type": "object", "properties": properties, "required": ["text"] },
        "returns": { "type": "object", "properties": properties, "required": ["text", "count"] },
    }] });
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    definition.to_string()
}

/// A project with the handlers as they are in `source`, and as a component in `capabilities`.
fn project() -> Project {
    let project = Project::empty();
    project.write("source/desk.json", definition(json!({})));
    project.write("source/desk.ts", HANDLERS);
    project.write("capabilities/desk.json", definition(json!({ "component": "../desk.wasm" })));
    let done = project.agent_spaces(&["compile", "source/desk.json", "--provider", "-o", "desk.wasm", "--json"]);
    assert_eq!(done.json()["ok"], true, "{done:?}");
    project.configure(json!({
        "capabilities": { "global": ["./capabilities/desk.json"] },
        // So much fuel that no machine is through with it in a second.
        "providers": { "@capabilities/desk": { "limits": { "time": "1s", "fuel": 1_000_000_000_000_u64 } } },
    }));
    project.trust();
    project
}

const SCRIPT: &str = "import { desk } from '@capabilities/desk';
    const attempt = (params) => desk.note(params).catch((error) => [error.code, error.message, error.details ?? null]);
    export default [
        await attempt({ text: 'a', count: 4, tags: ['x', 'ü'] }), await attempt({ text: 'b' }), await attempt({ text: 'own' }),
        await attempt({ text: 'throw' }), await attempt({ text: 'wrong' }), await attempt({ text: 'loop' }),
        await attempt({ text: 'fetch' }), await attempt({ text: 'env' }), await attempt({ text: 'c' }),
    ];";

#[test]
fn compiled_handlers_answer_like_uncompiled_ones() {
    let project = project();
    let compiled = project.run_with(SCRIPT, &["--json"]).value();
    let more = json!({ "deep": [null, true] });
    assert_eq!(compiled[0], json!({ "text": "a", "count": 5, "tags": ["x", "ü"], "more": more }));
    assert_eq!(compiled[1], json!({ "text": "b", "count": 1, "more": more }), "another instance");
    assert_eq!(compiled[2], json!(["desk.missing", "not there", { "text": "own" }]));
    assert_eq!(compiled[3], json!(["call.failed", "too far", null]));
    assert_eq!(compiled[4][0], "call.failed");
    assert!(compiled[4][1].as_str().unwrap().contains("does not fit its type: text: expected a string"), "{compiled}");
    assert!(compiled[5][1].as_str().unwrap().starts_with("Its handler failed: it took longer than 1s"), "{compiled}");
    assert!(compiled[6][1].as_str().unwrap().contains("Network access is disabled"), "{compiled}");
    assert_eq!(compiled[7][0], "call.failed");
    assert_eq!(compiled[8]["text"], "c", "the host goes on");
    let plain = project
        .run_with(&SCRIPT.replace("await attempt({ text: 'loop' }),", "1,"), &["--capabilities", "source", "--json"]);
    let plain = plain.value();
    for index in [0, 1, 2, 3, 6, 7, 8] {
        assert_eq!(compiled[index], plain[index], "{index}");
    }
}

/// A component asks its host for variables, as components of any language do.
#[test]
fn compiled_handlers_get_their_modules_variables() {
    let project = project();
    let script = "import { desk } from '@capabilities/desk'; export default (await desk.note({ text: 'given' })).text;";
    let given = |env: Value| {
        project.configure(json!({
            "capabilities": { "global": ["./capabilities/desk.json"] }, "providers": { "@capabilities/desk": { "env": env } },
        }));
        project.trust();
        project.run_with(script, &["--json"])
    };
    assert_eq!(given(json!({ "REGION": "eu" })).value(), "eu eu REGION");
    let (code, message) = given(json!({})).error();
    assert_eq!(code, "call.failed");
    assert_eq!(message, "process.env.REGION is not granted to the handlers of @capabilities/desk");
}

/// A definition may name any file, also one without an end.
#[test]
fn a_component_that_is_not_a_file_is_refused() {
    let project = project();
    assert!(std::process::Command::new("mkfifo").arg(project.path("pipe")).status().unwrap().success());
    for component in ["/dev/zero", "../pipe", ".."] {
        project.write("capabilities/desk.json", definition(json!({ "component": component })));
        let done = project.run_with("import { desk } from '@capabilities/desk'; export default 1;", &["--json"]);
        let (code, message) = done.error();
        assert_eq!(code, "config.unknown", "{done:?}");
        assert!(message.contains("it is not a file"), "{message}");
    }
}

#[test]
fn the_audit_shows_exports_and_provider_of_a_component() {
    let project = project();
    let audited = project.agent_spaces(&["audit", "desk.wasm"]).stdout;
    assert!(audited.contains("capabilities:desk/desk@1.0.0"), "{audited}");
    project.configure(json!({ "capabilities": { "global": ["./capabilities/desk.json"] }, "spaces": { "work": {} } }));
    let space = project.agent_spaces(&["audit", "work"]).stdout;
    assert!(space.contains("desk.wasm (component)"), "{space}");
}

#[test]
fn an_invalid_component_is_refused_before_any_run() {
    let project = project();
    let refused = |text: &str| {
        let done = project.run_with("import { desk } from '@capabilities/desk'; export default 1;", &["--json"]);
        let (code, message) = done.error();
        assert_eq!(code, "config.unknown", "{done:?}");
        assert!(message.contains("desk.wasm") && message.contains(text), "{message}");
    };
    let component = std::fs::read(project.path("desk.wasm")).unwrap();
    // Another capability's, of the same engine.
    project.write("source/lamp.json", r#"{ "name": "lamp", "functions": [{ "name": "on", "parameters": {} }] }"#);
    project.write("source/lamp.ts", "export const on = () => 1;");
    assert_eq!(project.agent_spaces(&["compile", "source/lamp.json", "--provider", "-o", "desk.wasm"]).status, Some(0));
    refused("it does not export the function `note`");
    project.write("desk.wasm", "not wasm");
    refused("this component cannot be used for");
    project.write("desk.wasm", &component[..component.len() / 2]);
    refused("this component cannot be used for");
    std::fs::remove_file(project.path("desk.wasm")).unwrap();
    refused("this component cannot be used for");
}

#[test]
fn a_definition_without_handlers_is_not_compiled() {
    let project = Project::empty();
    project.write("desk.json", definition(json!({})));
    let done = project.agent_spaces(&["compile", "desk.json", "--provider", "-o", "desk.wasm", "--json"]);
    let (code, message) = done.error();
    assert_eq!(code, "config.unknown");
    assert!(message.contains("it has no handlers to compile") && message.contains("desk.ts"), "{message}");
}
