//! Function descriptions for agents: order, names and result shapes.

use crate::mcp::support::{Project, eventually, hostile};
use crate::serve::agent::{Agent, text};
use serde_json::{Value, json};
use std::time::Duration;

/// A server of many functions, each with parameters of a type of its own.
fn large() -> Project {
    let field = |number: usize| {
        let inner = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "number" } } });
        (format!("field_{number}"), json!({ "type": "array", "items": inner, "description": "x".repeat(60) }))
    };
    let tool = |number: usize| {
        let properties: serde_json::Map<String, Value> = (0..6).map(field).collect();
        let description = format!("Does number {number}. {}", "y".repeat(150));
        json!({ "name": format!("do_{number}"), "description": description,
            "inputSchema": { "type": "object", "properties": properties } })
    };
    let tools: Vec<Value> = (0..60).map(tool).collect();
    let project = Project::empty();
    project.write("tools.json", &json!({ "tools": tools }).to_string());
    let servers = json!({ "big": { "command": "no-such-program", "tools": "tools.json" } });
    project.configure(json!({ "mcpServers": servers, "capabilities": { "global": ["mcp:big"] } }));
    project.trust();
    project
}

#[test]
fn signatures_precede_types_and_functions_are_not_split() {
    let project = large();
    let mut agent = Agent::of(&project, &[]);
    let (mut read, mut part) = (String::new(), 1);
    loop {
        let described = agent.call("describe_capabilities", json!({ "names": ["big"], "part": part }));
        let declared = described["structuredContent"]["declarations"].as_str().unwrap();
        if part == 1 {
            assert!(declared.starts_with("import { big } from '@capabilities/mcp-big';\n"), "{declared}");
            assert!(declared.contains("do0(params") && !declared.contains("export interface"), "{declared}");
            // The text says how to continue and how to narrow the request.
            assert!(
                text(&described).contains("{\"part\": 2}") && text(&described).contains("\"big.do0\""),
                "{described}"
            );
        }
        read += declared;
        part += 1;
        if !text(&described).contains(&format!("{{\"part\": {part}}}")) {
            break;
        }
        assert!(declared.ends_with(";\n") || declared.ends_with("\n\n"), "{}", &declared[declared.len() - 200..]);
    }
    assert!(part > 2);
    let last_function = read.rfind("do59(params").unwrap();
    assert!(read[last_function..].contains("export interface") || read[last_function..].contains("export type"));
    assert!(!read[..last_function].contains("export interface"), "types stand after all signatures");
}

#[test]
fn a_function_of_a_large_module_can_be_named_in_several_ways() {
    let project = large();
    let mut agent = Agent::of(&project, &[]);
    let names =
        ["big.do7", "do_7", "@capabilities/mcp-big#do7", "@capabilities/mcp-big#big.do7", "mcp-big#do_7", "do7"];
    for name in names {
        let described = agent.call("describe_capabilities", json!({ "names": [name] }));
        let declared = text(&described);
        assert!(declared.contains("do7(params") && !declared.contains("do8"), "{name}: {declared}");
        assert!(!declared.contains("more characters") && declared.contains("field_5"), "{name}: {declared}");
    }
    let unknown = agent.call("describe_capabilities", json!({ "names": ["@capabilities/mcp-other#do7"] }));
    assert_eq!(unknown["isError"], true, "{unknown}");
}

#[test]
fn untyped_results_are_described_from_earlier_ones() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    let describe =
        |agent: &mut Agent| text(&agent.call("describe_capabilities", json!({ "names": ["odd.echo"] }))).to_owned();
    assert!(!describe(&mut agent).contains("Untyped results"));
    let code = "import { odd } from '@capabilities/mcp-odd';
        await odd.echo({ message: 'hunter2' });
        export default 1;";
    assert_eq!(agent.run(code)["structuredContent"]["value"], 1);
    let is_told = || describe(&mut agent).contains("// odd.echo: { message: string }");
    assert!(eventually(Duration::from_secs(10), is_told), "{}", describe(&mut agent));
    assert!(!describe(&mut agent).contains("hunter2"));
    drop(agent);
    // The next server knows it too.
    let told = describe(&mut Agent::of(&project, &[]));
    assert!(told.contains("// odd.echo: { message: string }"), "{told}");
}
