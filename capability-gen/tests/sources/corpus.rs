use capability_gen::sources::{Format, Source, parse};
use serde_json::Value;
use std::path::PathBuf;

/// Responses of real servers parse completely: every tool becomes a function with the server's own schema.
#[test]
fn real_tool_lists_parse() {
    let folder = match std::env::var_os("AGENT_SPACES_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"),
    };
    let Ok(files) = std::fs::read_dir(folder.join("servers")) else {
        println!("skipped: no tool lists in {}; AGENT_SPACES_CORPUS names their folder", folder.display());
        return;
    };
    let (mut servers, mut tools, mut left_out, mut unwrapped, mut notes) = (0, 0, 0, 0, 0);
    for file in files {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap();
        let file = path.to_string_lossy();
        let read = |format| parse(&Source { file: &file, text: &text, name: Some(name), format });
        let definitions = read(None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(definitions, read(Some(Format::Mcp)).unwrap(), "{name} is found to be an MCP list");
        let listed: Value = serde_json::from_str(&text).unwrap();
        let listed = listed["tools"].as_array().unwrap();
        servers += 1;
        tools += listed.len();
        let Some(definition) = definitions.first() else { continue };
        let app_only = definition.notes.iter().filter(|note| note.message.starts_with("left out: ")).count();
        assert_eq!(definition.functions.len() + app_only, listed.len(), "{name}");
        left_out += app_only;
        notes += definition.notes.len();
        for function in &definition.functions {
            let tool = listed.iter().find(|tool| tool["name"] == function.name).unwrap();
            let is_empty = tool["inputSchema"].as_object().is_none_or(|schema| schema.is_empty());
            assert!(is_empty || function.parameters == tool["inputSchema"], "{name}/{}", function.name);
            let is_wrapped = capability_gen::sources::is_result_wrapped(&tool["outputSchema"]);
            assert!(is_wrapped || tool["outputSchema"]["x-fastmcp-wrap-result"] != true, "{name}/{}", function.name);
            assert_eq!(function.is_result_wrapped, is_wrapped, "{name}/{}", function.name);
            unwrapped += usize::from(is_wrapped);
        }
    }
    println!("{servers} servers, {tools} tools, {left_out} left out, {unwrapped} results unwrapped, {notes} notes");
    assert!(servers > 0 && tools > 0, "the folder is there and empty");
}
