//! HTTP servers that are broken, slow, or redirect elsewhere.

use crate::mcp::support::{Project, hostile_http_server, script};
use serde_json::{Value, json};

/// The names of these servers are the ways in which they misbehave.
fn servers(url: impl Fn(&str) -> String, ways: &[&str]) -> Value {
    let server = |way: &&str| {
        let config = json!({ "url": url(way), "type": "http", "timeout": "2s", "connectTimeout": "10s" });
        (way.replace('_', ""), config)
    };
    ways.iter().map(server).collect::<serde_json::Map<_, _>>().into()
}

/// Every way to answer a call wrongly has its error, and the right ones work beside them.
#[test]
fn each_malformed_response_has_its_error() {
    let Some(web) = hostile_http_server() else { return };
    let ways = [
        ("json", "", ""),
        ("sse", "", ""),
        ("discover_empty", "", ""),
        ("not_json", "call.protocol", "invalid response from the server: it is text/html instead of application/json"),
        ("hang", "call.timeout", "Tool execution timed out"),
        ("hang_stream", "call.timeout", "Tool execution timed out"),
        ("cut", "call.failed", "the connection to the server ended while the call was under way"),
        ("cut_stream", "call.protocol", "invalid response from the server"),
        ("huge", "call.failed", "the server's answer is larger than 16777216 bytes"),
        ("huge_stream", "call.failed", "the server's answer is larger than 16777216 bytes"),
        ("wrong_id", "call.protocol", "invalid response from the server: it does not answer the request"),
    ];
    let names: Vec<&str> = ways.iter().map(|(way, ..)| *way).collect();
    let project = Project::with_servers(servers(|way| web.url(way), &names));
    let modules: Vec<String> = names.iter().map(|way| way.replace('_', "")).collect();
    let calls: String =
        modules.iter().map(|name| format!("attempt(() => {name}.echo({{ message: '{name}' }})),")).collect();
    let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
    let ended = project.run(&script(&modules, &format!("export default await Promise.all([{calls}]);"))).value();
    for (index, (way, code, text)) in ways.into_iter().enumerate() {
        let ended = &ended[index];
        if code.is_empty() {
            assert_eq!(ended["value"], json!({ "message": modules[index] }), "{way}: {ended}");
        } else {
            assert_eq!(ended["code"], code, "{way}: {ended}");
            assert!(ended["message"].as_str().unwrap().starts_with(text), "{way}: {ended}");
            assert!(ended["ms"].as_u64().unwrap() < 15_000, "{way}: {ended}");
        }
    }
}

/// Expired session: the call that meets it fails, and the next one gets a new session. After 404 the call was not
/// processed and may be retried; 400, which some servers use, does not say so.
#[test]
fn an_expired_session_is_reopened() {
    let Some(web) = hostile_http_server() else { return };
    let forgotten = json!(["call.unavailable", true, "the server has forgotten the session"]);
    let lost = json!(["call.failed", false, "the connection to the server ended"]);
    let ways = [("expire", forgotten), ("expire_400", lost)];
    let project = Project::with_servers(servers(|way| web.url(way), &ways.each_ref().map(|(way, _)| *way)));
    let body = "
        const rounds = async (server) => {
            const ended = [];
            for (let round = 0; round < 4; round++) ended.push(await attempt(() => server.echo({ message: `${round}` })));
            return ended;
        };
        export default await Promise.all([rounds(expire), rounds(expire400)]);";
    let ended = project.run(&script(&["expire", "expire400"], body)).value();
    assert_eq!(ended.as_array().unwrap().len(), ways.len(), "{ended}");
    for ((way, error), rounds) in ways.iter().zip(ended.as_array().unwrap()) {
        for good in [0, 2] {
            assert_eq!(rounds[good]["value"], json!({ "message": good.to_string() }), "{way}: {rounds}");
        }
        for bad in [1, 3] {
            let round = &rounds[bad];
            assert_eq!((&round["code"], &round["retryable"]), (&error[0], &error[1]), "{way}: {rounds}");
            assert!(round["message"].as_str().unwrap().starts_with(error[2].as_str().unwrap()), "{way}: {rounds}");
        }
    }
}

/// An unauthorized user gets the command to run, before any other request.
#[test]
fn a_401_names_the_login_command() {
    let Some(web) = hostile_http_server() else { return };
    let project =
        Project::with_servers(servers(|way| web.url(way), &["unauthorized", "forbidden", "broken", "redirect"]));
    let done = project.agent_spaces(&["mcp", "ping", "--json"]);
    assert_eq!(done.status, Some(5));
    let answers = done.json();
    let of = |name: &str| {
        let answer = answers.as_array().unwrap().iter().find(|answer| answer["server"] == name).unwrap();
        (answer["error"]["code"].as_str().unwrap(), answer["error"]["message"].as_str().unwrap())
    };
    let unauthorized = "MCP server unauthorized: authorization required: run `agent-spaces mcp login unauthorized`";
    assert_eq!(of("unauthorized"), ("host.unauthorized", unauthorized));
    let (code, message) = of("forbidden");
    assert!(code == "host.unauthorized" && message.contains("`more`"), "{message}");
    assert_eq!(of("broken"), ("host.mcp", "MCP server broken: it answered with HTTP 500"));
    let (code, message) = of("redirect");
    assert!(code == "host.mcp" && message.contains("which is not followed"), "{message}");
    let elsewhere: Vec<Value> = web.seen().into_iter().filter(|request| request["origin"] == "other").collect();
    assert!(elsewhere.is_empty(), "another origin learns nothing: {elsewhere:?}");
}

/// A header from a variable reaches its server, and neither another origin nor any output.
#[test]
fn a_header_reaches_only_its_server() {
    let Some(web) = hostile_http_server() else { return };
    let secret = "bearer-of-the-header-4711";
    let mut configured = servers(|way| web.url(way), &["json", "redirect", "legacy"]);
    for server in configured.as_object_mut().unwrap().values_mut() {
        server["headers"] = json!({ "Authorization": "Bearer ${HEADER_OF_TEST}" });
    }
    let project = Project::with_servers(configured);
    let source = script(&["json"], "export default await json.echo({ message: 'x' });");
    project.write("script.ts", &source);
    let mut said = String::new();
    for arguments in [&["run", "script.ts", "--events", "--trace-mcp"][..], &["mcp", "ping", "--trace-mcp"]] {
        let mut command = project.command(arguments);
        command.env("HEADER_OF_TEST", secret);
        let done = crate::mcp::support::finish(command);
        said.push_str(&done.stdout);
        said.push_str(&done.stderr);
    }
    let seen = web.seen();
    let expected = format!("Bearer {secret}");
    assert!(seen.iter().any(|request| request["path"] == "/json" && request["headers"]["authorization"] == *expected));
    assert!(seen.iter().all(|request| request["origin"] == "main"), "{seen:?}");
    assert!(said.contains("[mcp] json: ") && !said.contains(secret), "{said}");
}
