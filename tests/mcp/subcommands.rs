//! `agent-spaces mcp` subcommands: output and exit status; the accounting file.

use crate::mcp::support::{Project, hostile, script};
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Three servers: working, failing to start, and disabled.
fn three() -> Option<Project> {
    let mut off = hostile(&[])?;
    off["enabled"] = false.into();
    Some(Project::new(json!({
        "mcpServers": { "good": hostile(&[])?, "bad": hostile(&["--exit-at-start"])?, "off": off },
        "capabilities": { "global": ["mcp:good"] },
    })))
}

#[test]
fn mcp_list_shows_each_servers_state() {
    let Some(project) = three() else { return };
    let states = |arguments: &[&str]| {
        let done = project.agent_spaces(arguments);
        // One of them does not answer.
        let expected = if arguments.contains(&"--check") { 5 } else { 0 };
        assert_eq!(done.status, Some(expected), "{done:?}");
        let servers = done.json().as_array().unwrap().clone();
        let fields = ["detail", "enabled", "endpoint", "file", "grant", "module", "name", "state", "tools"];
        servers.iter().for_each(|server| assert_eq!(keys(server), fields));
        servers
            .into_iter()
            .map(|server| (server["name"].as_str().unwrap().to_owned(), server["state"].clone()))
            .collect::<Vec<_>>()
    };
    let state = |name: &str, state: &str| (name.to_owned(), json!(state));
    let before = states(&["mcp", "list", "--json"]);
    assert_eq!(before, [state("bad", "not asked yet"), state("good", "not asked yet"), state("off", "off")]);
    project.assert_nothing_left();
    let checked = states(&["mcp", "list", "--check", "--json"]);
    assert_eq!(checked, [state("bad", "fails"), state("good", "answers"), state("off", "off")]);
    assert_eq!(project.agent_spaces(&["mcp", "accept", "good"]).status, Some(0));
    let (_, known) = states(&["mcp", "list", "--json"]).remove(1);
    assert!(known.as_str().unwrap().ends_with(" tools"), "{known}");
}

#[test]
fn mcp_ping_exit_status_reflects_all_servers() {
    let Some(project) = three() else { return };
    let one = project.agent_spaces(&["mcp", "ping", "good", "--json"]);
    assert_eq!((one.status, keys(&one.json()[0])), (Some(0), vec!["latencyMs", "ok", "server"]));
    let all = project.agent_spaces(&["mcp", "ping", "--json"]);
    let answers = all.json();
    assert_eq!((all.status, answers.as_array().unwrap().len()), (Some(5), 2), "what is off is not asked: {answers}");
    assert_eq!(keys(&answers[0]), ["error", "ok", "server"]);
    let none = project.agent_spaces(&["mcp", "ping", "god", "--json"]);
    assert_eq!((none.status, none.error().0.as_str()), (Some(2), "config.unknown"));
    assert!(none.json()["error"]["hint"].as_str().unwrap().contains("`good`"), "{none:?}");
}

#[test]
fn mcp_tools_prints_the_tool_definitions() {
    let Some(project) = three() else { return };
    let done = project.agent_spaces(&["mcp", "tools", "good", "--json"]);
    let listed = done.json();
    let fields =
        ["instructions", "prompts", "protocolVersion", "resourceTemplates", "resources", "serverInfo", "tools"];
    assert_eq!((done.status, keys(&listed)), (Some(0), fields.to_vec()));
    assert_eq!(listed["serverInfo"]["name"], "hostile");
    let failed = project.agent_spaces(&["mcp", "tools", "bad", "--json"]);
    assert_eq!((failed.status, failed.error().0.as_str()), (Some(5), "host.mcp"));
    std::fs::create_dir(project.path("capabilities")).unwrap();
    project.write("capabilities/mcp-copy.json", &done.stdout);
    let shown = project.agent_spaces(&["capabilities", "show", "mcp-copy", "capabilities"]);
    assert!(shown.stdout.contains("echo(params?: { message?: string })"), "the output is a definition: {shown:?}");
}

#[test]
fn mcp_call_takes_the_same_pipeline_as_scripts() {
    let Some(project) = three() else { return };
    let call = |arguments: &[&str]| {
        let done = project.agent_spaces(&[&["mcp", "call"], arguments, &["--json"]].concat());
        let answer = done.json();
        let outcome = if answer["ok"] == true { answer["value"].clone() } else { answer["error"]["code"].clone() };
        (outcome, done.status)
    };
    assert_eq!(call(&["good", "echo", r#"{"message":"x"}"#]), (json!({ "message": "x" }), Some(0)));
    assert_eq!(call(&["good", "bad_result", r#"{"shape":"empty"}"#]), (json!(""), Some(0)));
    assert_eq!(call(&["good", "badResult", r#"{"shape":"empty"}"#]), (json!(""), Some(0)), "by its other name");
    assert_eq!(call(&["good", "echo", r#"{"message":7}"#]), (json!("call.invalid"), Some(1)));
    assert_eq!(call(&["good", "is_error"]), (json!("call.failed"), Some(5)));
    assert_eq!(call(&["good", "protocol_error"]), (json!("call.protocol"), Some(5)));
    assert_eq!(call(&["good", "echo", "[1]"]), (json!("config.usage"), Some(2)));
    assert_eq!(call(&["good", "ecco"]), (json!("config.unknown"), Some(2)));
    assert_eq!(call(&["bad", "echo"]), (json!("host.mcp"), Some(5)));
    // Nothing here prints the request that another program would answer.
    assert_eq!(call(&["good", "echo", "{}", "--approvals", "pipe"]), (json!("config.usage"), Some(2)));
}

#[test]
fn every_call_is_accounted_with_exactly_these_keys() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::new(json!({
        "mcpServers": { "hostile": server }, "capabilities": { "global": ["mcp:hostile"] },
        "accounting": { "file": "kept/accounting.jsonl" },
    }));
    let body = "
        await hostile.echo({ message: 'four' });
        await attempt(() => hostile.isError({ message: 'no\\nway' }));
        export default 1;";
    assert_eq!(project.run(&script(&["hostile"], body)).value(), 1);
    let entries = project.lines("kept/accounting.jsonl");
    let fields = ["charactersIn", "charactersOut", "command", "latency", "mcpServer", "status", "timestamp", "type"];
    assert_eq!(keys(&entries[0]), fields);
    let mut with_error = [&fields[..], &["error"]].concat();
    with_error.sort_unstable();
    assert_eq!(keys(&entries[1]), with_error);
    assert_eq!(entries.len(), 2, "{entries:?}");
    let told = |entry: &Value| json!([entry["type"], entry["status"], entry["mcpServer"], entry["command"]]);
    assert_eq!(told(&entries[0]), json!(["tool", "ok", "hostile", "echo"]));
    assert_eq!(told(&entries[1]), json!(["tool", "failed", "hostile", "is_error"]));
    assert_eq!(entries[0]["charactersIn"], r#"{"message":"four"}"#.len());
    assert_eq!((&entries[1]["charactersOut"], &entries[1]["error"]), (&json!(0), &json!("no way")));
    assert!(entries[0]["latency"].as_f64().unwrap() > 0.0 && entries[0]["timestamp"].as_str().unwrap().ends_with('Z'));
}
