//! Startup of the server with slow or broken servers behind it.

use crate::mcp::support::{Project, eventually, hostile, signal};
use crate::serve::agent::{Agent, SESSIONS, STATELESS};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time that a greeting may take.
const GREETING: Duration = Duration::from_millis(300);

#[test]
fn initialization_is_immediate_and_broken_servers_are_notes() {
    let (Some(good), Some(dead), Some(mute), Some(slow)) =
        (hostile(&[]), hostile(&["--exit-at-start"]), hostile(&["--no-start"]), hostile(&["--slow-start", "30000"]))
    else {
        return;
    };
    let none = json!({ "command": "there-is-no-such-program" });
    let servers = json!({ "good": good, "dead": dead, "mute": mute, "slow": slow, "none": none });
    let project = Project::with_servers(servers);
    // Other tests may have the machine to themselves for a moment, but not every time.
    let mut agents: Vec<Agent> = Vec::new();
    while agents.len() < 5 && agents.iter().all(|agent| agent.greeted_in > GREETING) {
        agents.push(Agent::of(&project, &[]));
    }
    let times: Vec<Duration> = agents.iter().map(|agent| agent.greeted_in).collect();
    assert!(times.iter().any(|time| *time <= GREETING), "{times:?}");
    drop(agents);
    let mut agent = Agent::of(&project, &[]);
    let begun = Instant::now();
    let found = agent.search("echo a message");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(found.contains("good.echo("), "{found}");
    assert!(
        found.contains("the tools of dead are unavailable") && found.contains("the tools of none are unavailable"),
        "{found}"
    );
    let listing = ["still listing the tools of mute, slow", "still listing the tools of slow"];
    assert!(listing.iter().any(|note| found.contains(note)), "{found}");
    // How a program is started is no business of the agent's.
    assert!(!found.contains("there-is-no-such-program"), "{found}");
    let code =
        "import { good } from '@capabilities/mcp-good';\nexport default (await good.echo({ message: 'x' })).message";
    assert_eq!(agent.run(code)["structuredContent"]["value"], "x");
    let refused = agent.run("import { slow } from '@capabilities/mcp-slow';\nexport default slow");
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused.to_string().contains("still listing the tools of"), "{refused}");
}

#[test]
fn silent_servers_do_not_delay_a_working_one() {
    let Some(good) = hostile(&[]) else { return };
    let silent = json!({ "command": "sleep", "args": ["600"] });
    // More than are asked at one time. The last may be asked first, so that is none that works.
    let mut servers = json!({ "works": good, "zzz": silent });
    for number in 10..22 {
        servers[format!("silent{number}")] = silent.clone();
    }
    let project = Project::with_servers(servers);
    let mut agent = Agent::of(&project, &[]);
    let mut found = String::new();
    // Long before the timeout of a silent server.
    let is_there = eventually(Duration::from_secs(30), || {
        std::thread::sleep(Duration::from_millis(500));
        found = agent.search("echo a message");
        found.contains("works.echo(")
    });
    assert!(is_there, "{found}");
    assert!(found.contains("still listing the tools of silent10"), "they are waited for: {found}");
}

#[test]
fn a_failed_server_is_retried_on_demand() {
    let Some(server) = hostile(&["--more", "flags"]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    project.write("flags", "--exit-at-start");
    let mut agent = Agent::of(&project, &[]);
    let found = agent.search("echo a message");
    assert!(found.contains("the tools of odd are unavailable"), "{found}");
    assert!(found.contains("retried when you ask in"), "{found}");
    std::fs::remove_file(project.path("flags")).unwrap();
    let mut found = String::new();
    let is_there = eventually(Duration::from_secs(30), || {
        std::thread::sleep(Duration::from_millis(500));
        found = agent.search("echo a message");
        found.contains("odd.echo(")
    });
    assert!(is_there && !found.contains("are unavailable"), "{found}");
}

#[test]
fn a_failed_server_is_retried_only_after_its_backoff() {
    let (Some(good), Some(late)) = (hostile(&[]), hostile(&["--more", "flags"])) else { return };
    let dead = json!({ "command": "sh", "args": ["-c", "echo started >> starts; exit 1"] });
    let project = Project::new(json!({
        "mcpServers": { "good": good, "late": late, "dead": dead },
        "capabilities": { "global": ["mcp:good", "mcp:late", "mcp:dead"] },
        "policy": { "functions": { "good.echo": { "rateLimit": { "requests": 1, "period": "hour" } } } },
    }));
    project.write("flags", "--exit-at-start");
    let starts = || std::fs::read_to_string(project.path("starts")).unwrap().lines().count();
    let mut agent = Agent::of(&project, &[]);
    assert!(agent.search("echo a message").contains("good.echo("));
    let begun = Instant::now();
    let code =
        "import { good } from '@capabilities/mcp-good';\nexport default (await good.echo({ message: 'x' })).message";
    assert_eq!(agent.run(code)["structuredContent"]["value"], "x");
    assert_eq!(agent.run(code)["structuredContent"]["error"]["code"], "call.rate_limited");
    let once = starts();
    std::thread::sleep(Duration::from_secs(1));
    agent.search("echo a message");
    std::thread::sleep(Duration::from_secs(1));
    if begun.elapsed() < Duration::from_secs(4) {
        assert_eq!(starts(), once, "it is left alone for a while");
    }
    std::fs::remove_file(project.path("flags")).unwrap();
    let is_there = eventually(Duration::from_secs(30), || {
        std::thread::sleep(Duration::from_millis(500));
        agent.search("echo a message").contains("late.echo(")
    });
    assert!(is_there && eventually(Duration::from_secs(10), || starts() > once));
    // Everything is served anew by now, and what was used up still is.
    assert_eq!(agent.run(code)["structuredContent"]["error"]["code"], "call.rate_limited");
}

#[test]
fn a_stateless_client_learns_of_later_tools() {
    let Some(server) = hostile(&["--slow-start", "2000"]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::with(&project, &["--mode", "proxy", "--expose", "odd"], STATELESS, None);
    let wanted = json!({ "toolsListChanged": true, "promptsListChanged": true });
    let id = agent.begin("subscriptions/listen", json!({ "notifications": wanted }));
    let is_told = eventually(Duration::from_secs(30), || {
        agent.ask("server/discover", json!({}));
        agent.notifications.iter().any(|each| each["method"] == "notifications/tools/list_changed")
    });
    assert!(is_told, "{:?}", agent.notifications);
    let acknowledged = &agent.notifications[0];
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
    for told in &agent.notifications {
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{told}");
    }
    let listed = agent.ask("tools/list", json!({}));
    assert!(listed["result"]["tools"].to_string().contains("\"echo\""), "{listed}");
}

#[test]
fn the_second_start_uses_cached_tools_and_starts_nothing() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    Agent::of(&project, &[]).search("echo");
    let mut agent = Agent::of(&project, &[]);
    assert!(agent.search("echo").contains("odd.echo("));
    let instructions = agent.greeting["instructions"].as_str().unwrap();
    assert!(instructions.contains("import { odd } from '@capabilities/mcp-odd';"), "{instructions}");
    assert_eq!(project.processes().iter().filter(|(pid, _)| *pid != agent.pid()).count(), 0);
}

#[test]
fn an_invalid_configuration_is_reported_before_serving() {
    let project = Project::with_servers(json!({}));
    project.write("agent-spaces.config.json", r#"{ "mcpServerz": {} }"#);
    let done = project.agent_spaces(&["mcp", "serve"]);
    assert_eq!(done.status, Some(2), "{done:?}");
    assert!(done.stdout.is_empty() && done.stderr.contains("mcpServers"), "{done:?}");
}

#[test]
fn servers_of_an_untrusted_project_are_not_started() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::empty();
    project.configure(json!({ "mcpServers": { "odd": server }, "capabilities": { "global": ["mcp:odd"] } }));
    let mut agent = Agent::of(&project, &[]);
    let found = agent.search("echo");
    assert!(found.contains("1 server is unavailable") && found.contains("agent-spaces trust"), "{found}");
    assert_eq!(project.processes().iter().filter(|(pid, _)| *pid != agent.pid()).count(), 0);
}

#[test]
fn both_protocol_versions_are_supported() {
    let project = Project::with_servers(json!({}));
    for version in [SESSIONS, STATELESS] {
        let mut agent = Agent::with(&project, &[], version, None);
        assert!(agent.greeting["instructions"].as_str().is_some(), "{version}: {}", agent.greeting);
        let listed = agent.ask("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(3), "{version}: {listed}");
        assert_eq!(agent.run("export default 6 * 7")["structuredContent"]["value"], 42, "{version}");
    }
}

#[test]
fn a_signal_ends_the_server_and_its_children() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    for name in ["INT", "TERM"] {
        let mut agent = Agent::of(&project, &[]);
        let code = "import { odd } from '@capabilities/mcp-odd';\nexport default await odd.echo({ message: 'x' })";
        agent.search("echo");
        let result: Value = agent.run(code);
        assert_eq!(result["isError"], false, "{result}");
        signal(agent.pid(), name);
        project.assert_nothing_left();
    }
}
