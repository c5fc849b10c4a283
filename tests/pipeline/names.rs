//! Rules match functions by their names in scripts, in any form.

use agent_spaces::{Handlers, Interfaces, Package, PackageOutline, Space};
use agent_spaces_policy::{Policy, Settings};
use agent_spaces_tests::engine;
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::{Format, parse_value};
use serde_json::{Value, json};

/// A space with one module that answers everything with nothing.
fn space(source: &Value, name: Option<&str>, format: Format, settings: Settings) -> Space {
    let definitions = parse_value("test", source, name, Some(format)).unwrap();
    let module = compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap();
    let mut handlers = Handlers::new();
    for interface in PackageOutline::of(&module).interfaces {
        handlers.add_interface(interface.name, |_| async { Ok(json!([])) });
    }
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add_package(Package::new(module)).unwrap();
    Space::builder(&engine()).interfaces(interfaces, handlers).policy(Policy::new(settings)).build().unwrap()
}

async fn code(space: &Space, capability: &str, function: &str) -> String {
    let outcome = space.call_value(capability, function, json!({}), Default::default()).await;
    outcome.map_or_else(|error| error.code, |_| "ok".to_owned())
}

/// Denying a server denies its resources and prompts too.
#[tokio::test]
async fn a_rule_for_a_server_covers_all_its_functions() {
    let listing = json!({
        "tools": [{ "name": "echo", "inputSchema": {} }],
        "capabilities": { "resources": {}, "prompts": {} },
    });
    for (rule, parts) in [("*", "call.denied"), ("files.*", "call.denied"), ("other.*", "ok")] {
        let space = space(&listing, Some("files"), Format::Mcp, super::rig::rules(json!({ rule: "deny" })));
        assert_eq!(code(&space, "files", "echo").await, parts, "{rule}");
        assert_eq!(code(&space, "files.$resources", "list").await, parts, "{rule}");
        assert_eq!(code(&space, "files.$prompts", "list").await, parts, "{rule}");
    }
}
