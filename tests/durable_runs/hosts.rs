//! Servers of several hosts that share a store: any of them answers any request, whichever host a run is on.
//!
//! The hosts have the same project and a name, a state and a data folder each.

use crate::approvals::support::{Home, wait_until};
use crate::durable_runs::postgres::cluster::Cluster;
use crate::durable_runs::postgres::{HOST_KEY, add_host, address};
use crate::rest::client::{Api, id, text};
use crate::rest::event_stream::follow;
use crate::rest::server::{REMOVES, RestServer, config, home};
use serde_json::{Value, json};

/// Script that reads a file, and so runs where the file is.
const READS: &str = "import { fs } from '@agent-spaces/std'; export default await fs.readFile('a.txt');";

/// Hosts of a store.
struct Hosts {
    home: Home,
    store: String,
}

impl Hosts {
    /// Hosts with this configuration, in a schema of the cluster.
    fn new(cluster: &Cluster, schema: &str, config: &Value) -> Hosts {
        Hosts { home: home(config), store: address(cluster, schema) }
    }

    /// Starts a host, for the first time or again.
    fn start(&self, name: &str) -> RestServer {
        if !self.home.path(name).exists() {
            add_host(&self.home, name);
            // The key of a log is in the data folder, which is the host's own.
            let _absent = std::fs::remove_dir_all(self.home.path(name).join("agent-spaces/audit"));
        }
        let (state, data) = (self.home.path(name), self.home.path(&format!("{name}-data")));
        let folders = [("XDG_STATE_HOME", state.to_str().unwrap()), ("XDG_DATA_HOME", data.to_str().unwrap())];
        let variables = [&[("AGENT_SPACES_STORE", self.store.as_str()), HOST_KEY], folders.as_slice()].concat();
        RestServer::start_with(&self.home, &["--host-name", name], &variables)
    }

    /// Returns true if a host has the folder of a space.
    fn has_folder(&self, name: &str, space: &str) -> bool {
        self.home.path(&format!("{name}-data/agent-spaces-workspaces/{space}")).exists()
    }
}

/// Starts two hosts with [`config`]; without Postgres, none.
fn two(schema: &str) -> Option<(Hosts, RestServer, RestServer)> {
    let hosts = Hosts::new(Cluster::get()?, schema, &config());
    let (a, b) = (hosts.start("a"), hosts.start("b"));
    Some((hosts, a, b))
}

fn cancel(api: &Api, run: &str) -> Value {
    api.post(&format!("/v1/runs/{run}/cancel"), &json!({})).with_status(202).json()
}

#[test]
fn a_stream_follows_a_run_on_another_host() {
    let Some((_hosts, a, b)) = two("hosts_streams") else { return };
    let (a, b) = (a.operator(), b.operator());
    let space = a.new_space();
    a.put(&format!("/v1/spaces/{space}/files/a.txt"), b"text").with_status(201);
    // It uses files, which are on the first host.
    let source = "import { fs } from '@agent-spaces/std';
        for (let line = 0; line < 5; line += 1) {
            console.log(await fs.readFile('a.txt'), line); await new Promise((done) => setTimeout(done, 200)); }";
    let run = a.start(&space, source);
    let events = follow(&b, &format!("/v1/runs/{run}/events"), None);
    let lines: Vec<&Value> =
        events.iter().filter(|event| event.data["type"] == "console").map(|event| &event.data["text"]).collect();
    assert_eq!(lines, [&json!("text 0"), &json!("text 1"), &json!("text 2"), &json!("text 3"), &json!("text 4")]);
    let end = events.last().unwrap();
    assert_eq!((end.name.as_str(), &end.data["status"]), ("end", &json!("finished")), "{events:?}");
    assert_eq!(follow(&a, &format!("/v1/runs/{run}/events"), Some("2")), events[3..], "each host has the same");
}

#[test]
fn a_call_that_waits_on_one_host_is_approved_on_another() {
    let Some((_hosts, a, b)) = two("hosts_approvals") else { return };
    let (a, b) = (a.operator(), b.operator());
    let run = a.start(&a.new_space(), REMOVES);
    let approval = wait_until("it asks", || {
        let page = b.get(&format!("/v1/approvals?status=pending&run={run}")).with_status(200).json();
        page["items"].get(0).map(id)
    });
    let decision = json!({ "decision": "approve", "by": "Eve" });
    let decided = b.post(&format!("/v1/approvals/{approval}/decision"), &decision).with_status(200).json();
    assert_eq!(decided["status"], "approved", "{decided}");
    for api in [&a, &b] {
        let ended = api.ended(&run);
        assert_eq!((&ended["status"], &ended["value"]), (&json!("finished"), &json!("removed a")), "{ended}");
    }
}

#[test]
fn a_run_is_cancelled_from_another_host() {
    let Some((_hosts, a, b)) = two("hosts_cancellation") else { return };
    let (a, b) = (a.operator(), b.operator());
    let run = a.start(&a.new_space(), "for (;;);");
    assert_eq!((a.status(&run), b.status(&run)), ("running".to_owned(), "running".to_owned()));
    cancel(&b, &run);
    let ended = b.ended(&run);
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("cancelled"), &json!("run.cancelled")), "{ended}");
    assert_eq!(a.status(&run), "cancelled");
}

/// What one host stored is all that another needs: the first one is gone.
#[test]
fn spaces_and_programs_of_a_dead_host_are_used_on_another() {
    let Some((_hosts, a, b)) = two("hosts_spaces") else { return };
    let (first, api) = (a.operator(), b.operator());
    let base = first.space(&json!({ "name": "made there", "limits": { "calls": 3 } }));
    let space = id(&base);
    let program =
        json!({ "name": "report", "source": "import input from '@agent-spaces/input'; export default input.n + 1;" });
    first.post("/v1/programs", &program).with_status(201);
    let seen = api.get(&format!("/v1/spaces/{space}")).with_status(200).json();
    assert_eq!((&seen["name"], &seen["limits"]["calls"]), (&json!("made there"), &json!(3)), "{seen}");
    let waiting = first.start(&space, "await new Promise((done) => setTimeout(done, 5_000)); export default 'slept';");
    wait_until("it left memory", || (first.status(&waiting) == "waiting").then_some(()));
    a.kill();

    let body = json!({ "program": "report@1", "input": { "n": 41 } });
    let run = api.post(&format!("/v1/spaces/{space}/runs?wait=30"), &body).with_status(201).json();
    assert_eq!((&run["value"], &run["program"]), (&json!(42), &json!("report@1")), "{run}");
    let slept = api.ended(&waiting);
    assert_eq!((&slept["status"], &slept["value"]), (&json!("finished"), &json!("slept")), "{slept}");
    let renamed = json!({ "name": "changed here" });
    let changed = api.send_json("PATCH", &format!("/v1/spaces/{space}"), &[], &renamed).with_status(200);
    assert_eq!(changed.json()["name"], "changed here");
}

#[test]
fn a_key_counts_on_all_hosts() {
    let Some((_hosts, a, b)) = two("hosts_keys") else { return };
    let (a, b) = (a.operator(), b.operator());
    let key = [("idempotency-key", "order-4711")];
    let make = |api: &Api| api.send_json("POST", "/v1/spaces", &key, &json!({ "name": "order" }));
    let space = id(&make(&a).with_status(201).json());
    assert_eq!(id(&make(&b).with_status(200).json()), space);
    let path = format!("/v1/spaces/{space}/runs?wait=30");
    let start = |api: &Api, source: &str| api.send_json("POST", &path, &key, &json!({ "source": source }));
    let run = id(&start(&a, "export default 1;").with_status(201).json());
    assert_eq!(id(&start(&b, "export default 1;").with_status(201).json()), run);
    start(&b, "export default 2;").problem(422, "request.idempotency");

    // At the same time, one of them starts it.
    let key = [("idempotency-key", "order-4712")];
    let source = "import { files } from '@capabilities/files'; export default await files.look({ path: 'x' });";
    let body = json!({ "source": source });
    let (path, key, body) = (&path, &key, &body);
    let ids: Vec<String> = std::thread::scope(|scope| {
        let started = [&a, &b].map(|api| scope.spawn(move || id(&api.send_json("POST", path, key, body).json())));
        started.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(a.ended(&ids[0])["value"], "saw x");
    let runs = b.get(&format!("/v1/runs?space={space}")).with_status(200).json();
    assert_eq!(runs["items"].as_array().unwrap().len(), 2, "{runs}");
}

#[test]
fn files_and_their_runs_stay_with_their_host() {
    let Some((hosts, a, b)) = two("hosts_pinned") else { return };
    let (first, api) = (a.operator(), b.operator());
    let space = first.new_space();
    let file = format!("/v1/spaces/{space}/files/a.txt");
    first.put(&file, b"kept").with_status(201);
    for answer in
        [api.get(&file), api.put(&file, b"x"), api.delete(&file), api.get(&format!("/v1/spaces/{space}/files"))]
    {
        assert!(answer.problem(421, "space.elsewhere").contains("`a`"), "{answer:?}");
    }
    let run = api.run(&space, READS);
    assert_eq!((&run["status"], &run["value"]), (&json!("finished"), &json!("kept")), "it ran there: {run}");

    a.kill();
    let queued = api.start(&space, READS);
    let given_up = api.start(&space, READS);
    assert_eq!(
        api.run(&space, "export default 'here';")["value"],
        "here",
        "a run without files needs no host of its own"
    );
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(api.status(&queued), "queued", "its host is away");
    assert_eq!(cancel(&api, &given_up)["status"], "cancelled");
    let again = hosts.start("a");
    let run = api.ended(&queued);
    assert_eq!((&run["status"], &run["value"]), (&json!("finished"), &json!("kept")), "{run}");

    // Another host ends the space; its own removes the files.
    assert!(hosts.has_folder("a", &space));
    api.delete(&format!("/v1/spaces/{space}")).with_status(204);
    again.operator().get(&file).problem(404, "not_found");
    wait_until("its files are removed", || (!hosts.has_folder("a", &space)).then_some(()));
    assert!(!hosts.has_folder("b", &space));
}

#[test]
fn configured_files_are_on_the_host_that_the_configuration_names() {
    let Some(cluster) = Cluster::get() else { return };
    let mut config = config();
    let hosts = Hosts::new(cluster, "hosts_configured", &config);
    hosts.home.write("reports/a.txt", "configured");
    config["spaces"]["reports"]["workspace"] = json!("./reports");
    config["serve"]["workspaces"] = json!({ "host": "a" });
    hosts.home.configure(&config);
    let (a, b) = (hosts.start("a"), hosts.start("b"));
    let (a, b) = (a.operator(), b.operator());
    let listed = b.get("/v1/spaces").with_status(200).json();
    let space = listed["items"].as_array().unwrap().iter().find(|space| space["name"] == "reports").map(id).unwrap();
    let file = format!("/v1/spaces/{space}/files/a.txt");
    assert_eq!(a.get(&file).with_status(200).body, b"configured");
    b.get(&file).problem(421, "space.elsewhere");
    assert_eq!(b.run(&space, READS)["value"], "configured");
}

#[test]
fn hosts_that_share_a_folder_have_the_same_files() {
    let Some(cluster) = Cluster::get() else { return };
    let mut config = config();
    let hosts = Hosts::new(cluster, "hosts_shared", &config);
    let shared = hosts.home.path("shared");
    std::fs::create_dir(&shared).unwrap();
    config["serve"]["workspaces"] = json!({ "shared": shared });
    hosts.home.configure(&config);
    let (a, b) = (hosts.start("a"), hosts.start("b"));
    let (first, api) = (a.operator(), b.operator());
    let space = first.new_space();
    let file = format!("/v1/spaces/{space}/files/a.txt");
    let made = first.put(&file, b"shared").with_status(201);
    assert_eq!(
        (api.get(&file).with_status(200).etag(), api.run(&space, READS)["value"].clone()),
        (made.etag(), json!("shared"))
    );
    let writes = "import { fs } from '@agent-spaces/std'; await fs.writeFile('a.txt', 'by a program');";
    assert_eq!(api.run(&space, writes)["status"], "finished");
    assert_eq!(first.get(&file).with_status(200).body, b"by a program");
    a.kill();
    assert_eq!(api.run(&space, READS)["value"], "by a program", "no host has them alone");
    api.delete(&format!("/v1/spaces/{space}")).with_status(204);
    assert!(!shared.join(&space).exists());
}

/// Each host has its own log.
#[test]
fn entries_of_the_audit_log_name_their_host() {
    let Some((_hosts, a, b)) = two("hosts_audit") else { return };
    let (a, b) = (a.operator(), b.operator());
    let run = a.run(
        &a.new_space(),
        "import { files } from '@capabilities/files'; export default await files.look({ path: 'x' });",
    );
    let entries = |api: &Api| -> Vec<Value> {
        let page = api.get("/v1/audit?limit=100").with_status(200).json();
        page["items"].as_array().unwrap().iter().map(|item| item["entry"].clone()).collect()
    };
    let (of_a, run) = (entries(&a), id(&run));
    let kinds: Vec<String> = of_a.iter().map(|entry| text(&entry["type"])).collect();
    assert!(
        kinds.iter().any(|kind| kind == "apiAction") && kinds.iter().any(|kind| kind == "callScheduled"),
        "{kinds:?}"
    );
    assert!(of_a.iter().all(|entry| entry["host"] == "a"), "{of_a:?}");
    assert!(entries(&b).iter().all(|entry| entry["runId"] != run.as_str()), "it ran on the other host");
    assert_eq!(a.get("/v1/audit/verification").with_status(200).json()["verdict"], "unchanged");
}
