//! `agent-spaces doctor` on servers that work, fail, or may not be started.

use crate::mcp::support::{CommandOutput, Project, finish, hostile};
use serde_json::{Value, json};

/// Looks with a home of its own: what other programs have there is no matter of this test.
fn doctor(project: &Project, arguments: &[&str]) -> CommandOutput {
    let mut command = project.command(&[&["doctor"], arguments].concat());
    std::fs::create_dir_all(project.path("home")).unwrap();
    command.env("HOME", project.path("home"));
    finish(command)
}

fn check<'a>(report: &'a Value, subject: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["subject"] == subject).unwrap_or_else(|| panic!("{subject}: {report}"))
}

fn state<'a>(report: &'a Value, subject: &str) -> &'a str {
    check(report, subject)["state"].as_str().unwrap()
}

#[test]
fn every_server_is_checked_from_settings_to_tools() {
    let (Some(good), Some(bad), Some(slow)) = (hostile(&[]), hostile(&["--exit-at-start"]), hostile(&["--no-start"]))
    else {
        return;
    };
    let mut off = good.clone();
    off["enabled"] = false.into();
    let mut poor = good.clone();
    poor["env"] = json!({ "TOKEN": "${NOBODY_HAS_THIS_VARIABLE}" });
    let project = Project::with_servers(json!({
        "good": good, "bad": bad, "slow": slow, "poor": poor, "gone": { "command": "no-such-program-here" },
    }));
    assert_eq!(project.agent_spaces(&["mcp", "accept", "good"]).status, Some(0));
    let done = doctor(&project, &["--deadline", "3s", "--json"]);
    let report = done.json();
    assert_eq!((done.status, report["ok"].as_bool()), (Some(5), Some(false)), "{report}");
    let of = |name: &str| check(&report, &format!("server {name}"));
    assert!(
        of("good")["state"] == "fine" && of("good")["message"].as_str().unwrap().ends_with("as accepted"),
        "{report}"
    );
    for (name, part) in [
        ("bad", "its process exited"),
        ("slow", "timed out after 3s while listing its tools"),
        ("poor", "`NOBODY_HAS_THIS_VARIABLE` is not set"),
        ("gone", "not found in PATH"),
    ] {
        assert!(of(name)["state"] == "broken" && of(name)["message"].as_str().unwrap().contains(part), "{}", of(name));
    }
    for subject in ["engine", "state folder", "cache folder", "configuration"] {
        assert_eq!(state(&report, subject), "fine", "{report}");
    }
    project.assert_nothing_left();
    project.configure(json!({ "mcpServers": { "off": off } }));
    project.trust();
    let well = doctor(&project, &[]);
    assert_eq!(well.status, Some(0), "{well:?}");
    assert!(
        well.stdout.contains("-    server off: disabled at agent-spaces.config.json: $.mcpServers.off\n"),
        "{}",
        well.stdout
    );
}

#[test]
fn toolbox_servers_are_checked_too() {
    let (Some(good), Some(bad)) = (hostile(&[]), hostile(&["--exit-at-start"])) else { return };
    let servers = json!({ "good": good, "bad": bad });
    let project = Project::new(json!({ "toolboxes": { "box": { "description": "Odd", "mcpServers": servers } } }));
    let done = doctor(&project, &["--json"]);
    let report = done.json();
    assert_eq!(done.status, Some(5), "{report}");
    assert_eq!((state(&report, "server box/good"), state(&report, "server box/bad")), ("note", "broken"), "{report}");
    assert!(check(&report, "configuration")["message"].as_str().unwrap().contains("1 toolbox"), "{report}");
    project.assert_nothing_left();
}

#[test]
fn tools_that_changed_are_a_warning_and_new_ones_are_not() {
    let Some(good) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "good": good }));
    let report = doctor(&project, &["--json"]).json();
    assert_eq!(state(&report, "server good"), "note", "{report}");
    assert_eq!(project.agent_spaces(&["mcp", "accept", "good"]).status, Some(0));
    let Some(changed) = hostile(&["--extra-tool", "new_tool"]) else { return };
    project.configure(json!({ "mcpServers": { "good": changed } }));
    project.trust();
    let done = doctor(&project, &["--json"]);
    let report = done.json();
    assert_eq!((done.status, state(&report, "server good")), (Some(0), "warning"), "{report}");
    assert!(check(&report, "server good")["message"].as_str().unwrap().contains("changed since accepted"), "{report}");
}

#[test]
fn untrusted_and_disabled_servers_are_not_started() {
    let Some(server) = hostile(&["--log", "log.jsonl"]) else { return };
    let project = Project::with_servers(json!({ "good": server.clone() }));
    let report = doctor(&project, &["--offline", "--json"]).json();
    assert_eq!((state(&report, "server good"), project.read("log.jsonl").as_str()), ("note", ""));
    project.configure(json!({ "mcpServers": { "good": server, "other": { "command": "x" } } }));
    let done = doctor(&project, &["--json"]);
    let report = done.json();
    assert_eq!(done.status, Some(2), "{report}");
    assert_eq!((state(&report, "configuration"), state(&report, "server good")), ("broken", "warning"));
    assert!(check(&report, "configuration")["fix"].as_str().unwrap().contains("agent-spaces trust "));
    assert_eq!(project.read("log.jsonl"), "");
    project.write("agent-spaces.config.json", "{");
    let done = doctor(&project, &["--json"]);
    assert_eq!((done.status, state(&done.json(), "configuration")), (Some(2), "broken"));
}

#[test]
fn other_programs_with_the_same_servers_are_named() {
    let project = Project::new(json!({
        "mcpServers": { "same": { "command": "x", "enabled": true } }, "defaults": { "toolTimeout": "7s" },
    }));
    std::fs::create_dir_all(project.path("home/.cursor")).unwrap();
    let us = json!({ "command": "/gone/agent-spaces", "args": ["mcp", "serve"] });
    let mut theirs = json!({ "mcpServers": { "same": { "command": "x" }, "more": { "command": "y" }, "us": us } });
    project.mark(&mut theirs["mcpServers"]);
    project.write("home/.cursor/mcp.json", &theirs.to_string());
    let report = doctor(&project, &["--offline", "--json"]).json();
    let cursor = format!("Cursor ({})", project.path("home/.cursor/mcp.json").display());
    let said: Vec<&Value> =
        report["checks"].as_array().unwrap().iter().filter(|check| check["subject"] == cursor.as_str()).collect();
    assert_eq!((&said[0]["state"], &said[1]["state"]), (&json!("broken"), &json!("warning")), "{report}");
    assert!(said[1]["message"].as_str().unwrap().contains("it starts same too"));
    assert!(check(&report, "other servers")["message"].as_str().unwrap().ends_with("more"));
}

#[test]
fn an_untrusted_certificate_names_the_missing_variables() {
    let fails = "import sys; sys.stderr.write('invalid peer certificate: UnknownIssuer'); sys.exit(1)";
    let server = |env: Value| json!({ "command": "python3", "args": ["-c", fails], "env": env });
    let given = json!({ "SSL_CERT_FILE": "${SSL_CERT_FILE}" });
    let project = Project::new(json!({
        "mcpServers": { "bare": server(json!({})), "given": server(given) }, "capabilities": { "global": ["mcp:*"] },
    }));
    std::fs::create_dir_all(project.path("home")).unwrap();
    let mut command = project.command(&["doctor", "--json"]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.contains("CERT") || name.contains("_CA")) {
        command.env_remove(name);
    }
    command.env("HOME", project.path("home")).env("SSL_CERT_FILE", "/etc/ssl/certs/none.pem");
    let report = finish(command).json();
    let fix = |name: &str| check(&report, &format!("server {name}"))["fix"].as_str().unwrap_or_default().to_owned();
    assert!(fix("bare").contains("\"env\": { \"SSL_CERT_FILE\": \"${SSL_CERT_FILE}\" }"), "{report}");
    assert!(!fix("given").contains("SSL_CERT_FILE"), "{report}");
    assert!(
        check(&report, "proxy and certificates")["message"]
            .as_str()
            .unwrap()
            .contains("not passed to these servers: bare"),
        "{report}"
    );
    let lacking = &check(&report, "proxy and certificates")["details"]["lacking"];
    assert!(lacking["bare"].to_string().contains("SSL_CERT_FILE"), "{report}");
    assert!(!lacking["given"].to_string().contains("SSL_CERT_FILE"), "{report}");
}

#[test]
fn servers_already_configured_are_not_offered_again() {
    let project = Project::new(json!({ "mcpServers": { "here": { "command": "h" } } }));
    std::fs::create_dir_all(project.path("home/.cursor")).unwrap();
    std::fs::create_dir_all(project.path("home/.codeium/windsurf")).unwrap();
    std::fs::create_dir_all(project.path("config/agent-spaces")).unwrap();
    let servers = |servers: Value| json!({ "mcpServers": servers }).to_string();
    let (calc, other) = (json!({ "command": "calc" }), json!({ "command": "other" }));
    project.write("config/agent-spaces/agent-spaces.config.json", &servers(json!({ "calc": calc })));
    project.write("home/.cursor/mcp.json", &servers(json!({ "calc": calc, "twin": { "command": "one" } })));
    let windsurf = servers(json!({ "calc": calc, "twin": { "command": "two" }, "other": other }));
    project.write("home/.codeium/windsurf/mcp_config.json", &windsurf);
    let mut command = project.command(&["doctor", "--offline", "--json"]);
    command.env("HOME", project.path("home")).env("XDG_CONFIG_HOME", project.path("config"));
    let report = finish(command).json();
    let said = check(&report, "other servers")["message"].as_str().unwrap();
    assert!(said.ends_with(": twin (Cursor), other, twin (Windsurf)"), "{said}");
}

#[test]
fn a_slow_server_can_get_a_longer_timeout() {
    let Some(mut slow) = hostile(&["--no-start"]) else { return };
    slow["connectTimeout"] = "1s".into();
    let project = Project::with_servers(json!({ "slow": slow }));
    let report = doctor(&project, &["--json"]).json();
    let check = check(&report, "server slow");
    assert!(check["message"].as_str().unwrap().contains("did not answer within 1s"), "{report}");
    let fix = check["fix"].as_str().unwrap();
    assert!(fix.contains("`connectTimeout`") && fix.contains("run this again"), "{report}");
}
