//! Cancelled calls, progress, timeouts and logs.

use crate::mcp::support::{Project, eventually, hostile, hostile_logging, script};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns the ids of cancelled calls that the server received.
fn cancelled(project: &Project) -> Vec<Value> {
    let told = project.lines("log.jsonl").into_iter();
    told.filter(|message| message["method"] == "notifications/cancelled")
        .map(|message| message["params"]["requestId"].clone())
        .collect()
}

/// The id of the only call of a tool.
fn id_of(project: &Project, tool: &str) -> Value {
    let log = project.lines("log.jsonl");
    log.iter().find(|message| message["params"]["name"] == tool).unwrap_or_else(|| panic!("{log:?}"))["id"].clone()
}

/// A script that ends during a call sends a cancellation to the server.
#[test]
fn a_call_is_cancelled_on_the_server_when_the_run_ends() {
    let Some(server) = hostile_logging(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        hostile.hang();
        export default await hostile.echo({ message: 'done' });";
    assert_eq!(project.run(&script(&["hostile"], body)).value(), json!({ "message": "done" }));
    let told = eventually(Duration::from_secs(3), || cancelled(&project) == [id_of(&project, "hang")]);
    assert!(told, "{:?}", project.lines("log.jsonl"));
}

/// A timed-out call is cancelled on the server; an answered one is not.
#[test]
fn a_call_is_cancelled_on_the_server_when_it_times_out() {
    let Some(mut server) = hostile_logging(&[]) else { return };
    server["timeout"] = "20s".into();
    server["toolTimeouts"] = json!({ "sleep": "500ms" });
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        const slept = await attempt(() => hostile.sleep({ ms: 3000 }));
        await new Promise((resolve) => setTimeout(resolve, 300));
        export default { slept, echoed: await hostile.echo({ message: 'after' }) };";
    let ended = project.run(&script(&["hostile"], body)).value();
    assert_eq!(ended["slept"]["code"], "call.timeout", "{ended}");
    assert!(ended["slept"]["ms"].as_u64().unwrap() < 2500, "{ended}");
    assert_eq!(cancelled(&project), [id_of(&project, "sleep")]);
}

/// `defaults.toolTimeout` is the time of every server that has none of its own.
#[test]
fn calls_use_the_default_timeout_unless_the_server_sets_one() {
    let (Some(mut plain), Some(mut own)) = (hostile(&[]), hostile(&[])) else { return };
    plain.as_object_mut().unwrap().remove("timeout");
    own["timeout"] = "20s".into();
    let project = Project::new(json!({
        "mcpServers": { "plain": plain, "own": own },
        "capabilities": { "global": ["mcp:plain", "mcp:own"] },
        "defaults": { "toolTimeout": "500ms" },
    }));
    let body = "
        const slept = (server) => attempt(() => server.sleep({ ms: 2000 }));
        export default await Promise.all([slept(plain), slept(own)]);";
    let ended = project.run(&script(&["plain", "own"], body)).value();
    assert_eq!(ended[0]["code"], "call.timeout", "{ended}");
    assert_eq!(ended[1]["value"], "slept", "{ended}");
}

/// The time of the whole run ends a call too.
#[test]
fn a_run_over_its_time_limit_cancels_its_calls() {
    let Some(server) = hostile_logging(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    assert_eq!(project.agent_spaces(&["mcp", "accept"]).status, Some(0));
    let done = project.run_with(&script(&["hostile"], "await hostile.hang();"), &["--json", "--timeout", "2s"]);
    assert_eq!((done.error().0.as_str(), done.status), ("limit.time", Some(3)));
    let told = eventually(Duration::from_secs(3), || cancelled(&project) == [id_of(&project, "hang")]);
    assert!(told, "{:?}", project.lines("log.jsonl"));
}

/// Progress becomes events of the run, under the call that it belongs to.
#[test]
fn progress_becomes_events() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        export default await Promise.all([hostile.progress({ ms: 500 }), hostile.echo({ message: 'silent' })]);";
    let done = project.run_with(&script(&["hostile"], body), &["--events"]);
    let events = done.lines();
    let of_type = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let scheduled = of_type("callScheduled");
    let call = scheduled.iter().find(|event| event["function"] == "progress").unwrap_or_else(|| panic!("{events:?}"));
    let steps: Vec<Value> = of_type("callProgress")
        .iter()
        .map(|event| json!([event["callId"], event["progress"], event["total"], event["message"]]))
        .collect();
    let expected: Vec<Value> =
        (1..=5).map(|step| json!([call["callId"], f64::from(step), 5.0, format!("step {step}")])).collect();
    // The last one comes with the answer, and may be heard after it.
    assert!(steps.len() >= 4 && expected.starts_with(&steps), "{steps:?}");
    assert_eq!(done.value(), json!(["5 steps", { "message": "silent" }]));
}

/// Progress extends a timeout only with `progressTimeout`, and only up to it.
#[test]
fn progress_extends_the_timeout_only_if_configured() {
    for (more, takes, expected) in [
        (None, 2500, "Tool execution timed out"),
        (Some("20s"), 2500, "25 steps"),
        (Some("2s"), 5000, "Tool execution timed out"),
    ] {
        let Some(mut server) = hostile(&[]) else { return };
        server["timeout"] = "1s".into();
        if let Some(more) = more {
            server["progressTimeout"] = more.into();
        }
        let project = Project::with_servers(json!({ "hostile": server }));
        let body = format!("export default await attempt(() => hostile.progress({{ ms: {takes} }}));");
        let ended = project.run(&script(&["hostile"], &body)).value();
        let said = ended.get("value").or(ended.get("message")).unwrap();
        assert_eq!(said, expected, "{more:?}: {ended}");
        if more == Some("2s") {
            assert!((1900..4500).contains(&ended["ms"].as_u64().unwrap()), "{ended}");
        }
    }
}

/// A server's logs and stderr are in the trace.
#[test]
fn logs_and_stderr_go_to_the_trace() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        await hostile.log({ level: 'warning', message: 'careful now' });
        await hostile.stderr({ lines: 1, message: 'murmur' });
        await new Promise((resolve) => setTimeout(resolve, 200));
        export default 1;";
    let source = script(&["hostile"], body);
    let traced = project.run_with(&source, &["--json", "--trace-mcp"]);
    let has = |parts: &[&str]| {
        let is_it = |line: &str| line.contains("[mcp] hostile: ") && parts.iter().all(|part| line.contains(part));
        traced.stderr.lines().any(is_it)
    };
    for parts in [&["log Warning (hostile)", "careful now"][..], &["murmur 0"], &["→", "tools/call"], &["←"]] {
        assert!(has(parts), "{parts:?}: {}", traced.stderr);
    }
    let silent = project.run(&source);
    assert!(!silent.stderr.contains("[mcp]") && !silent.stderr.contains("murmur"), "{}", silent.stderr);
}
