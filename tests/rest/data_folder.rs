//! Data folder: everything that a server keeps.

use crate::rest::client::id;
use crate::rest::server::{RestServer, config, home};
use serde_json::json;

#[test]
fn a_server_keeps_everything_in_its_data_folder() {
    let home = home(&config());
    let folder = home.path("served");
    let data = folder.display().to_string();
    let mut trust = home.command(&["trust"]);
    trust.env("AGENT_SPACES_DATA", &data);
    let trusted = crate::approvals::support::finish(trust);
    assert_eq!(trusted.status, Some(0), "{trusted:?}");
    let (before, state) = (names(&home.state()), home.state());

    let served = RestServer::start(&home, &["--data", &data]);
    let api = served.operator();
    let space = api.new_space();
    let run =
        api.run(&space, "import { files } from '@capabilities/files'; export default await files.look({ path: 'a' });");
    assert_eq!(run["value"], "saw a", "{run}");
    api.post("/v1/programs", &json!({ "name": "report", "source": "1" })).with_status(201);
    api.put(&format!("/v1/spaces/{space}/files/own.txt"), b"own").with_status(201);
    assert_eq!(served.workspaces().len(), 0, "not in the user's folder");
    drop(served);
    assert_eq!(names(&state), before, "the user's state is as it was");

    // A copy of a stopped server's folder is a backup.
    let copy = home.path("restored");
    let copied = std::process::Command::new("cp").arg("-a").arg(&folder).arg(&copy).status().unwrap();
    assert!(copied.success());
    std::fs::remove_dir_all(&folder).unwrap();
    let served = RestServer::start(&home, &["--data", &copy.display().to_string()]);
    let api = served.operator();
    assert_eq!(api.get(&format!("/v1/runs/{}", id(&run))).with_status(200).json(), run);
    assert_eq!(api.get(&format!("/v1/spaces/{space}/files/own.txt")).with_status(200).body, b"own");
    api.get("/v1/programs/report").with_status(200);
}

/// Names in a folder, sorted.
fn names(folder: &std::path::Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}
