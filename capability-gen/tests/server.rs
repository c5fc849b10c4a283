//! MCP resources and prompts, from the server's responses to every output.

use capability_gen::compile::{CompileError, ModuleSource, compile};
use capability_gen::definition::ServerExtras;
use capability_gen::emit::{dts::dts, js::js, rust::rust, schema_json::schema_json, wit::wit};
use capability_gen::model::Module;
use capability_gen::sources::{Format, parse_value};
use capability_gen::wit::plan;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The module of a server, with features announced separately from its tools.
fn server(name: &str, listing: &Value, extras: Option<ServerExtras>) -> Result<Module, CompileError> {
    let mut definitions = parse_value("mcp", listing, Some(name), Some(Format::Mcp)).unwrap();
    if let (Some(extras), Some(definition)) = (extras, definitions.first_mut()) {
        definition.server = Some(extras);
    }
    compile(ModuleSource { specifier: None, stem: None, definitions })
}

fn listing() -> Value {
    let (message, sum) = (json!({"message": {"type": "string"}}), json!({"sum": {"type": "number"}}));
    json!({"tools": [
        {"name": "echo", "description": "Says it again", "inputSchema": {"properties": message}},
        {"name": "add", "inputSchema": {}, "outputSchema": {"type": "object", "properties": sum}}
    ]})
}

fn everything(instructions: &str) -> Module {
    let extras = ServerExtras { instructions: Some(instructions.to_owned()), has_resources: true, has_prompts: true };
    server("everything", &listing(), Some(extras)).unwrap()
}

fn wit_of(module: &Module) -> String {
    let text = wit(module, &plan(module));
    let mut resolve = wit_parser::Resolve::default();
    resolve.push_str("host.wit", include_str!("../../wit/host.wit")).unwrap();
    resolve.push_str("module.wit", &text).unwrap_or_else(|error| panic!("{error:#}\n{text}"));
    text
}

#[test]
fn declarations_contain_resources_and_prompts() {
    insta::assert_snapshot!("declarations", dts(&everything("Echo before you add.")));
}

#[test]
fn the_wit_has_an_interface_for_each_part() {
    let text = wit_of(&everything("Echo before you add."));
    assert!(text.contains("/// Echo before you add.\ninterface everything {\n"), "{text}");
    for part in ["interface resources {", "blob: option<list<u8>>", "interface prompts {", "messages: json"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let without = wit_of(&server("everything", &listing(), None).unwrap());
    assert!(text.starts_with(&without.replace("interface", "/// Echo before you add.\ninterface")), "{without}");
}

#[test]
fn other_outputs_contain_them() {
    let module = everything("Echo before you add.");
    let spec: Value = serde_json::from_str(&schema_json(&module)).unwrap();
    let capability = &spec["capabilities"][0];
    assert_eq!(capability["description"], "Echo before you add.");
    assert_eq!(capability["server"][0]["interface"], "resources");
    let read = &capability["server"][0]["functions"][0];
    assert_eq!((&read["id"], &read["method"]), (&json!("everything.$resources.read"), &json!("resources/read")));
    assert_eq!(read["schema"]["required"], json!(["uri"]));
    assert!(js(&module).contains("  $prompts: createCapabilityProxy('everything.$prompts', {\n"), "{}", js(&module));
    assert!(rust(&module).contains("TypedCall::new(PART, \"read\", &json!({ \"uri\": uri }))"));
    let plain = server("everything", &listing(), None).unwrap();
    for output in [dts(&plain), js(&plain), rust(&plain), schema_json(&plain), wit_of(&plain)] {
        assert!(!output.contains("resources") || output.contains("McpContent"), "{output}");
    }
}

/// The type of content blocks is declared only if a result can contain some.
#[test]
fn content_is_declared_only_if_used() {
    let typed = json!({"tools": [{"name": "add", "inputSchema": {}, "outputSchema": {"type": "object"}}]});
    assert!(!dts(&server("a", &typed, None).unwrap()).contains("McpContent"));
    let only = |has_resources, has_prompts| ServerExtras { instructions: None, has_resources, has_prompts };
    assert!(!dts(&server("a", &typed, Some(only(true, false))).unwrap()).contains("McpContent"));
    assert!(dts(&server("a", &typed, Some(only(false, true))).unwrap()).contains("export type McpContent ="));
    let untyped = dts(&server("a", &listing(), None).unwrap());
    assert_eq!(untyped.matches("export type McpContent =").count(), 1);
    assert_eq!(untyped.matches("`McpContent[]`").count(), 1, "{untyped}");
    let titled = json!({"title": "McpContent", "type": "object", "properties": {"a": {"type": "string"}}});
    let own = json!({"tools": [{"name": "x", "inputSchema": {}, "outputSchema": titled}, {"name": "y"}]});
    let text = dts(&server("a", &own, None).unwrap());
    assert!(text.contains("export interface McpContent_ {") && text.contains("Promise<McpContent_>"), "{text}");
}

#[test]
fn a_server_may_have_the_name_of_a_part() {
    for name in ["resources", "prompts"] {
        let extras = ServerExtras { has_resources: true, has_prompts: true, ..ServerExtras::default() };
        let module = server(name, &listing(), Some(extras)).unwrap();
        let capability = &module.capabilities[0];
        assert_eq!((capability.interface.as_str(), capability.export.as_str()), (name, name));
        let names: Vec<&str> = capability.server.iter().map(|of| of.interface.as_str()).collect();
        let escaped: Vec<&&str> = names.iter().filter(|one| one.starts_with(&format!("{name}-x"))).collect();
        assert_eq!(escaped.len(), 1, "{names:?}");
        let planned: Vec<String> = plan(&module).server.into_iter().map(|of| of.interface).collect();
        assert_eq!(planned, names);
        wit_of(&module);
    }
}

/// A server without tools is a module if it has resources or prompts.
#[test]
fn a_server_may_have_no_tools() {
    let listing = json!({"tools": [], "capabilities": {"resources": {}}});
    let module = server("files", &listing, None).unwrap();
    assert_eq!((module.specifier.as_str(), module.capabilities[0].functions.len()), ("@capabilities/mcp-files", 0));
    assert!(dts(&module).contains("  export const files: {\n    /** What"), "{}", dts(&module));
    wit_of(&module);
    crate::rust_syntax::assert_parses(&[rust(&module)]);
}

#[test]
fn instructions_follow_the_description() {
    let mut definitions = parse_value("mcp", &listing(), Some("a"), Some(Format::Mcp)).unwrap();
    definitions[0].description = "Adds.".to_owned();
    definitions[0].server = Some(ServerExtras { instructions: Some("Echo.".to_owned()), ..ServerExtras::default() });
    let module = compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap();
    assert_eq!(module.capabilities[0].description, "Adds.\n\nEcho.");
    let long = everything(&"long ".repeat(100_000));
    assert!(dts(&long).len() < 10_000 && wit_of(&long).len() < 10_000 && rust(&long).len() < 20_000);
}

/// Code without comments and layout.
fn code(text: &str, comment: &str) -> String {
    let mut out = String::new();
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        let begins = line.starts_with(comment);
        if !begins && !is_inside {
            out.push_str(line);
            out.push('\n');
        }
        is_inside = comment == "/**" && (begins || is_inside) && !line.ends_with("*/");
    }
    out
}

/// Ends of comments, line ends, hidden characters, tags, and any other text.
const HOSTILE: &str = "(\\PC|[\n\r\t`~ \u{202e}\u{2028}/*{}@]|\\*/|interface x \\{|\\}){0,60}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Text of a server never becomes code.
    #[test]
    fn instructions_never_become_code(text in HOSTILE) {
        let (module, plain) = (everything(&text), everything(""));
        prop_assert_eq!(code(&dts(&module), "/**"), code(&dts(&plain), "/**"));
        prop_assert_eq!(code(&wit_of(&module), "///"), code(&wit_of(&plain), "///"));
        prop_assert_eq!(code(&rust(&module), "///"), code(&rust(&plain), "///"));
        prop_assert_eq!(js(&module), js(&plain));
        let spec: Value = serde_json::from_str(&schema_json(&module)).unwrap();
        prop_assert_eq!(&spec["capabilities"][0]["description"], &json!(text));
    }
}
