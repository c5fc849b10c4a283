//! Proxy mode of `agent-spaces mcp serve`: selected functions as MCP tools.

use crate::mcp::support::{Project, ServeClient, small};
use serde_json::{Value, json};

/// A definition with all that a tool can be listed with.
fn crm() -> Value {
    json!({
        "name": "crm",
        "description": "Customers",
        "functions": [
            {
                "name": "createTicket",
                "description": "Create a ticket",
                "parameters": {
                    "type": "object",
                    "properties": { "subject": { "type": "string", "minLength": 3, "examples": ["help"] } },
                    "required": ["subject"], "additionalProperties": false,
                },
                "returns": {
                    "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"],
                },
            },
            {
                "name": "countTickets",
                "description": "How many there are",
                "parameters": { "type": "object", "properties": {} },
                "returns": { "type": "integer" },
            },
            {
                "name": "purge",
                "description": "Remove all",
                "parameters": { "type": "object", "properties": {} },
            },
        ],
    })
}

const HANDLERS: &str = "
    export const createTicket = async ({ subject }) => ({ id: `t-${subject}` });
    export const countTickets = async () => 42;
    export const purge = async () => 'gone';
";

/// A project with a definition and a server.
fn project(more: Value) -> Option<Project> {
    let memory = small("memory")?;
    let project = Project::empty();
    project.write("crm.json", &crm().to_string());
    project.write("crm.ts", HANDLERS);
    let mut config = json!({
        "mcpServers": { "memory": memory },
        "capabilities": { "global": ["./crm.json", "mcp:memory"] },
        "policy": { "functions": { "crm.purge": "deny" } },
    });
    config.as_object_mut()?.extend(more.as_object()?.clone());
    project.configure(config);
    project.trust();
    Some(project)
}

fn serve(project: &Project, exposed: &[&str]) -> ServeClient {
    let mut options = vec!["--mode", "proxy"];
    exposed.iter().for_each(|name| options.extend(["--expose", name]));
    ServeClient::new(project, &options)
}

fn tools(served: &mut ServeClient) -> Vec<Value> {
    served.ask("tools/list", json!({}))["tools"].as_array().unwrap().clone()
}

fn named<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name} in {tools:?}"))
}

#[test]
fn exposed_functions_are_listed_with_their_specification() {
    let Some(project) = project(json!({})) else { return };
    let mut served = serve(&project, &["crm", "memory.storeValue", "memory.everything"]);
    let listed = tools(&mut served);
    let names: Vec<&Value> = listed.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names.len(), 4, "a denied one is not listed: {names:?}");
    let definition = crm();
    let ticket = named(&listed, "createTicket");
    let source = &definition["functions"][0];
    assert_eq!(ticket["description"], source["description"]);
    assert_eq!(ticket["inputSchema"].to_string(), source["parameters"].to_string());
    assert_eq!(ticket["outputSchema"].to_string(), source["returns"].to_string());
    assert_eq!(named(&listed, "countTickets")["outputSchema"]["properties"]["result"], json!({ "type": "integer" }));
    assert_eq!(
        *named(&listed, "store_value"),
        json!({
            "name": "store_value", "title": "Store", "description": "Store a key-value pair",
            "annotations": { "readOnlyHint": false, "idempotentHint": true },
            "inputSchema": {
                "type": "object",
                "properties": {
                    "key": { "type": "string", "minLength": 1, "examples": ["a"] }, "value": { "type": "string" },
                },
                "required": ["key", "value"], "additionalProperties": true,
            },
        })
    );
    let everything = named(&listed, "everything");
    assert_eq!(everything["outputSchema"]["required"], json!(["pixels"]));
    assert_eq!(served.greeting["capabilities"]["tools"]["listChanged"], true);
}

#[test]
fn a_tool_returns_what_a_script_gets() {
    let Some(project) = project(json!({})) else { return };
    let script = "
        import { crm } from '@capabilities/crm';
        export default [await crm.createTicket({ subject: 'help' }), await crm.countTickets()];";
    let ran = project.run(script).value();
    let mut served = serve(&project, &["*"]);
    let ticket = served.call("createTicket", json!({ "subject": "help" }));
    assert_eq!(ticket["structuredContent"], ran[0]);
    assert_eq!(ticket["content"], json!([{ "type": "text", "text": ran[0].to_string() }]));
    let count = served.call("countTickets", json!({}));
    assert_eq!(count["structuredContent"], json!({ "result": ran[1] }));
    let image = served.call("everything", json!({}));
    assert_eq!((&image["content"][1]["type"], &image["_meta"]["of"]), (&json!("image"), &json!("the result")));
    let wrong = served.call("createTicket", json!({ "subject": "x" }));
    let text = wrong["content"][0]["text"].as_str().unwrap();
    assert!(wrong["isError"] == true && text.contains("[call.invalid]"), "{text}");
}

#[test]
fn unexposed_functions_are_hidden_and_denied_ones_refused() {
    let Some(project) = project(json!({ "serve": { "expose": ["crm.countTickets", "crm.purge"] } })) else { return };
    let mut served = serve(&project, &[]);
    let listed = tools(&mut served);
    assert_eq!(listed.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["countTickets"]);
    let unknown = served.exchange("tools/call", json!({ "name": "store_value", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let denied = served.exchange("tools/call", json!({ "name": "purge", "arguments": {} }));
    let as_unknown = unknown["error"].to_string().replace("store_value", "purge");
    assert_eq!(denied["error"].to_string(), as_unknown, "nobody can tell that it is there");
    let told =
        project.agent_spaces(&["mcp", "serve", "--mode", "proxy", "--expose", "crm.purge", "--expose", "crm"]).stderr;
    assert!(told.contains("`crm.purge` is not exposed: the policy denies it"), "{told}");
    assert!(!told.contains("`crm` is not exposed"), "some of it is served: {told}");
    let done = project.agent_spaces(&["mcp", "serve", "--expose", "crm"]);
    assert!(done.status == Some(2) && done.stderr.contains("--mode proxy"), "{done:?}");
}

#[test]
fn progress_arrives_in_order_before_the_result() {
    let Some(counter) = small("counter") else { return };
    let project = Project::with_servers(json!({ "counter": counter }));
    let mut served = serve(&project, &["counter"]);
    for token in ["first", "second", "third"] {
        served.heard.clear();
        let call = json!({ "name": "count", "arguments": {}, "_meta": { "progressToken": token } });
        served.ask("tools/call", call);
        // Nothing is read after the answer: all of it was heard before.
        let told: Vec<Value> =
            served.heard.iter().filter(|heard| heard["params"]["progressToken"] == token).cloned().collect();
        let steps: Vec<f64> = told.iter().filter_map(|heard| heard["params"]["progress"].as_f64()).collect();
        assert_eq!(steps, (1..=20).map(f64::from).collect::<Vec<_>>(), "{token}");
    }
}

#[test]
fn nothing_is_exposed_by_default() {
    let Some(project) = project(json!({})) else { return };
    let done = project.agent_spaces(&["mcp", "serve", "--mode", "proxy"]);
    assert!(done.status == Some(2) && done.stderr.contains("--expose"), "{done:?}");
}

#[test]
fn equal_names_are_qualified_by_capability() {
    let (Some(one), Some(two)) = (small("memory"), small("memory")) else { return };
    let project = Project::with_servers(json!({ "one": one, "two": two }));
    let mut served = serve(&project, &["one.storeValue", "two.storeValue", "two.tell"]);
    // Servers without cached tools are listed while clients are served.
    while tools(&mut served).len() < 3 {
        served.heard.clear();
        served.wait_for("notifications/tools/list_changed");
    }
    let names: Vec<Value> = tools(&mut served).iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["one_store_value", "two_store_value", "tell"]);
}

#[test]
fn a_host_behind_a_host_gives_the_same_results() {
    let Some(inner) = project(json!({})) else { return };
    let command = inner.command(&[]);
    let env: serde_json::Map<String, Value> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.into())))
        .collect();
    let config = inner.path("agent-spaces.config.json");
    let server = json!({
        "command": command.get_program().to_str().unwrap(),
        "args": ["mcp", "serve", "--mode", "proxy", "--expose", "*", "--config", config],
        "env": env,
        "public": env.keys().collect::<Vec<_>>(),
    });
    let outer = Project::with_servers(json!({ "inner": server }));
    let script = |from: &str, crm: &str, memory: &str| {
        format!(
            "{from}
            const attempt = (work) => work().catch(({{ message }}) => message);
            export default [
                await {crm}.createTicket({{ subject: 'help' }}), await {crm}.countTickets(),
                await {memory}.storeValue({{ key: 'a', value: 'b' }}), await {memory}.everything(),
                typeof await attempt(() => {memory}.fail()),
            ];"
        )
    };
    let direct = inner.run(&script(
        "import { crm } from '@capabilities/crm'; import { memory } from '@capabilities/mcp-memory';",
        "crm",
        "memory",
    ));
    let behind = outer.run(&script("import { inner } from '@capabilities/mcp-inner';", "inner", "inner"));
    assert_eq!(behind.value(), direct.value());
}
