//! Sandboxes for large modules: only the functions that a script names are compiled, unobservably.

use agent_spaces::{Handlers, Interfaces, Package, RunOptions, Space};
use agent_spaces_tests::{engine, run};
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::{Source, parse};
use serde_json::{Value, json};

const FUNCTIONS: usize = 300;

/// Each function returns its own name.
fn large() -> Space {
    let functions: Vec<Value> = (0..FUNCTIONS)
        .map(|number| {
            json!({
                "name": format!("do_{number}"),
                "description": "One of many",
                "parameters": { "type": "object", "properties": {
                    "id": { "type": "string" },
                    "kind": { "type": "string", "enum": ["plain", format!("kind{number}")] },
                    "tags": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": "string" } } } },
                } },
                "returns": "string",
            })
        })
        .collect();
    let text = json!({ "name": "large", "functions": functions }).to_string();
    let definitions = parse(&Source { file: "large.json", text: &text, name: None, format: None }).unwrap();
    let module = compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap();
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add_package(Package::new(module)).unwrap();
    let mut handlers = Handlers::new();
    handlers.add_interface("capabilities:large/large@1.0.0", |call| {
        let name = call.source_name.to_string();
        async move { Ok(json!(name)) }
    });
    Space::builder(&engine()).interfaces(interfaces, handlers).build().unwrap()
}

/// The size of what is compiled for a script.
fn compiled_bytes(space: &Space, body: &str) -> usize {
    let source = format!("import {{ large }} from '@capabilities/large';\n{body}");
    space.prepare("script.ts", &source).unwrap().precompiled().unwrap().len()
}

#[test]
fn only_named_functions_are_compiled() {
    let space = large();
    let whole = compiled_bytes(&space, "export default Object.keys(large).length");
    for named in [
        "await large.do7({})",
        "await large['do7']({}); const { do8 } = large; await do8({})",
        "const call = () => large?.do7({ tags: [{ name: 'x' }] }); await call()",
    ] {
        let bytes = compiled_bytes(&space, named);
        // Every binding has a part that does not depend on how many functions it has.
        assert!(bytes * 4 < whole, "{bytes} of {whole} bytes for {named}");
    }
}

/// If a function could be reached without being named, all are compiled.
#[test]
fn every_function_is_compiled_if_the_module_is_used_as_a_value() {
    let space = large();
    let whole = compiled_bytes(&space, "export default Object.keys(large).length");
    // The script's own text counts too.
    let is_whole = |bytes: usize| bytes.abs_diff(whole) < 1_000;
    for unnamed in [
        "const name = 'do' + 7; await large[name]({})",
        "const all = large; await all.do7({})",
        "const { do7, ...rest } = large; await rest.do8({})",
        "const pick = (from) => from.do7({}); await pick(large)",
        "await large.do8({}); await eval('large.do7({})')",
        "await large.do8({}); await __agentSpaces.callCapability('large', 'do7', {})",
        "for (const name in large) await large.do7({})",
        "export { large }; await large.do7({})",
        "const box = { large }; await box.large.do7({})",
    ] {
        assert!(is_whole(compiled_bytes(&space, unnamed)), "{unnamed}");
    }
    for imports in [
        "import * as all from '@capabilities/large'; const which = 'large'; await all[which].do7({})",
        "const { large } = await import('@capabilities/large'); await large.do7({})",
    ] {
        let program = space.prepare("script.ts", imports).unwrap();
        assert!(is_whole(program.precompiled().unwrap().len()), "{imports}");
    }
}

#[tokio::test]
async fn scripts_cannot_tell_which_functions_are_compiled() {
    let space = large();
    for (script, expected) in [
        ("import { large } from '@capabilities/large'; export default await large.do7({})", json!("do_7")),
        ("import * as all from '@capabilities/large'; export default await all.large.do299({})", json!("do_299")),
        (
            "import { large as l } from '@capabilities/large'; const { do0: first } = l; export default await first({})",
            json!("do_0"),
        ),
        ("import { large } from '@capabilities/large'; export default Object.keys(large).length", json!(FUNCTIONS)),
        (
            "import { large } from '@capabilities/large'; export default ['do3' in large, 'never' in large]",
            json!([true, false]),
        ),
    ] {
        assert_eq!(run(&space, script).await.outcome.unwrap(), expected, "{script}");
    }
}

/// Suggestions include functions that are not compiled.
#[tokio::test]
async fn a_misspelt_function_is_reported_with_the_nearest() {
    let space = large();
    let source = "import { large } from '@capabilities/large'; await large.doo123({})";
    let program = space.prepare("script.ts", source).unwrap();
    let error = program.run(RunOptions::default()).await.outcome.unwrap_err();
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("`do123`")), "{error:?}");
}
