//! Runs that are kept in Postgres instead of the user's file.

// The tests of the store use the rest of it.
#[allow(dead_code)]
#[path = "../../host/journal-postgres/tests/store/cluster.rs"]
pub(super) mod cluster;

use crate::approvals::store::{approvals, token};
use crate::approvals::support::{Home, RunOutput, finish};
use crate::durable_runs::{SCRIPT, home};
use cluster::Cluster;
use serde_json::json;

/// Key of hosts.
pub(super) const HOST_KEY: (&str, &str) = ("AGENT_SPACES_HOST_KEY", "aGVsbG8gaG9zdHMsIHRoaXMgaXMgYSB0ZXN0IQ==");

/// Returns the address of a store.
pub(super) fn address(cluster: &Cluster, schema: &str) -> String {
    let (folder, port) = (cluster.folder.display(), cluster.port);
    format!("postgres:///postgres?host={folder}&port={port}&user=tester&schema={schema}")
}

/// Makes another host: it has the same project and accepted the same configuration, and has a state of its own.
pub(super) fn add_host(home: &Home, state: &str) {
    let mut copy = std::process::Command::new("cp");
    let copied = copy.arg("-a").arg(home.path("state")).arg(home.path(state)).status().unwrap();
    assert!(copied.success());
}

/// Runs the command on a host.
fn on(home: &Home, state: &str, variables: &[(&str, &str)], arguments: &[&str]) -> RunOutput {
    let mut command = home.command(arguments);
    command.env("XDG_STATE_HOME", home.path(state)).envs(variables.iter().copied());
    finish(command)
}

/// One host has made the token, and another decides and goes on.
#[test]
fn an_approver_decides_on_all_hosts_that_have_the_same_key() {
    let Some(cluster) = Cluster::get() else { return };
    let home = home(&json!({ "parkAfter": "50ms" }), true);
    add_host(&home, "other");
    let address = address(cluster, "approving_hosts");
    let shared = [("AGENT_SPACES_STORE", address.as_str()), HOST_KEY];
    let made = on(&home, "state", &shared, &["approvals", "token", "--json"]);
    let token = made.json()["token"].as_str().unwrap_or_else(|| panic!("{made:?}")).to_owned();
    home.write("script.ts", SCRIPT);
    let parked = on(&home, "state", &shared, &["run", "script.ts", "--json", "--durable"]);
    assert_eq!((parked.status, &parked.json()["status"]), (Some(6), &json!("parked")), "{parked:?}");
    let run = parked.json()["runId"].as_str().unwrap().to_owned();

    let listed = on(&home, "other", &shared, &["approvals", "list", "--json"]).json();
    let request = listed[0]["id"].as_str().unwrap().to_owned();
    let approve = ["approvals", "approve", request.as_str(), "--json"];
    let with_token = ("AGENT_SPACES_APPROVER_TOKEN", token.as_str());
    let alone = on(&home, "other", &[shared[0], with_token], &approve);
    assert_eq!(alone.code(), "config.approver", "without the key it knows no approver: {alone:?}");
    let strange = [shared[0], ("AGENT_SPACES_HOST_KEY", "another-secret-of-at-least-32-characters"), with_token];
    assert_eq!(on(&home, "other", &strange, &approve).code(), "config.approver", "the seal is of other hosts");
    let approved = on(&home, "other", &[shared[0], shared[1], with_token], &approve);
    assert_eq!(approved.json(), json!({ "id": request, "decision": "approve" }), "{approved:?}");
    let resumed = on(&home, "other", &shared, &["runs", "resume", &run, "--json"]);
    assert_eq!((resumed.status, &resumed.json()["status"]), (Some(6), &json!("parked")), "the next call: {resumed:?}");
    let body = cluster.sql("SELECT convert_from(body, 'UTF8') FROM approving_hosts.documents WHERE kind = 'approver'");
    assert!(body.contains("publicKey") && !body.contains(&token[4..]), "{body}");
}

/// Three calls of a day, by hosts that do not know each other.
#[test]
fn a_daily_limit_holds_over_all_hosts() {
    let Some(cluster) = Cluster::get() else { return };
    let home = home(&json!(true), false);
    home.configure(&json!({
        "capabilities": { "global": ["./tools/files.json"] }, "durable": true,
        "policy": { "functions": { "files.remove": { "maxPerDay": 3 } } },
    }));
    add_host(&home, "other");
    let address = address(cluster, "counting_hosts");
    let shared = [("AGENT_SPACES_STORE", address.as_str())];
    home.write("script.ts", SCRIPT);
    let first = on(&home, "state", &shared, &["run", "script.ts", "--json"]);
    assert_eq!((first.status, &first.json()["status"]), (Some(0), &json!("finished")), "{first:?}");
    let second = on(&home, "other", &shared, &["run", "script.ts", "--json"]);
    assert!(second.status != Some(0) && second.stdout.contains("call limit reached for today"), "{second:?}");
    assert_eq!(cluster.sql("SELECT count(*) FROM counting_hosts.documents WHERE kind = 'call_count'"), "2");
    assert!(!home.state().join("counts").exists(), "nothing is counted in files");
}

/// Parked by one process, decided by another, continued by a third; none has a file.
#[test]
fn a_run_in_postgres_goes_on_in_other_processes() {
    let Some(cluster) = Cluster::get() else { return };
    let home = home(&json!({ "parkAfter": "50ms" }), true);
    let token = token(&home);
    let (folder, port) = (cluster.folder.display(), cluster.port);
    let address = format!("postgres:///postgres?host={folder}&port={port}&user=tester&schema=command\n");
    std::fs::write(home.path("store"), address).unwrap();
    let store = format!("file:{}", home.path("store").display());
    let option = format!("--store={store}");
    let approve = || {
        let listed = home.finish(&["approvals", "list", "--json", &option]).json();
        let id = listed[0]["id"].as_str().unwrap().to_owned();
        let done = approvals(&home, Some(&token), &["approve", &id, &option]);
        assert_eq!(done.json(), json!({ "id": id, "decision": "approve" }), "{done:?}");
    };

    let parked = home.run(SCRIPT, &["--durable", "--store", &store]);
    assert_eq!((parked.status, &parked.json()["status"]), (Some(6), &json!("parked")), "{parked:?}");
    let id = parked.json()["runId"].as_str().unwrap().to_owned();
    approve();
    let mut command = home.command(&["runs", "resume", &id, "--json"]);
    command.env("AGENT_SPACES_STORE", &store);
    let resumed = crate::approvals::support::finish(command);
    assert_eq!((resumed.status, &resumed.json()["status"]), (Some(6), &json!("parked")), "{resumed:?}");
    approve();
    // The processes that it starts have the same store.
    let resumed = home.finish(&[&option, "runs", "resume", "--all", "--json"]);
    assert_eq!((resumed.status, resumed.value()), (Some(0), json!(["removed a", "removed b", true, true])));
    assert_eq!(home.finish(&["replay", &id, &option]).status, Some(0));
    assert!(!home.path("data/agent-spaces/journal").exists(), "there is no file");
    assert_eq!(cluster.sql("SELECT status, epoch FROM command.runs"), "finished|3");
}

/// The configuration names the store, by a variable.
#[test]
fn a_configuration_names_the_store_once_it_is_accepted() {
    let Some(cluster) = Cluster::get() else { return };
    let home = home(&json!(true), false);
    home.write(
        "agent-spaces.config.json",
        &json!({
            "capabilities": { "global": ["./tools/files.json"] }, "durable": true, "store": "${TEST_STORE}",
        })
        .to_string(),
    );
    let (folder, port) = (cluster.folder.display(), cluster.port);
    let address = format!("postgres:///postgres?host={folder}&port={port}&user=tester&schema=configured");
    let with_store = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("TEST_STORE", &address);
        crate::approvals::support::finish(command)
    };
    let accepted = with_store(&["trust"]);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    home.write("script.ts", SCRIPT);
    let output = with_store(&["run", "script.ts", "--json"]);
    assert_eq!((output.status, &output.json()["status"]), (Some(0), &json!("finished")), "{output:?}");
    assert_eq!(cluster.sql("SELECT status FROM configured.runs"), "finished");
}

#[test]
fn a_password_is_refused_in_arguments_and_never_shown() {
    let home = home(&json!(true), false);
    let visible = home.finish(&["runs", "list", "--json", "--store", "postgres://ann:s3cret-word@127.0.0.1:1/d"]);
    assert_eq!((visible.status, visible.code().as_str()), (Some(2), "config.usage"), "{visible:?}");
    std::fs::write(home.path("store"), "postgres://ann:s3cret-word@127.0.0.1:1/d").unwrap();
    let option = format!("--store=file:{}", home.path("store").display());
    let unreachable = home.finish(&["runs", "list", "--json", &option]);
    assert_eq!((unreachable.status, unreachable.code().as_str()), (Some(5), "host.journal"), "{unreachable:?}");
    assert!(unreachable.stdout.contains("postgres://ann@127.0.0.1:1/d"), "{unreachable:?}");
    for output in [visible, unreachable] {
        assert!(!output.stdout.contains("s3cret") && !output.stderr.contains("s3cret"), "{output:?}");
    }
}
