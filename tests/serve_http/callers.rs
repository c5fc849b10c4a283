//! What is one caller's is no other's.

use crate::served::{ANN, BOB, Served, message, program};
use crate::wire::send;
use serde_json::json;

#[test]
fn a_session_is_its_callers_alone() {
    let Some(served) = Served::with_callers() else { return };
    let session = served.session(ANN);
    let stolen = [("mcp-session-id", &*session.id), ("mcp-protocol-version", "2025-11-25")];
    let list = message(3, "tools/list", json!({}));
    assert_eq!(served.post(BOB, &stolen, &list).status, 404);
    assert_eq!(served.post(&served.token, &stolen, &list).status, 404);
    let bob = crate::served::bearer(BOB);
    for method in ["GET", "DELETE"] {
        let headers: Vec<(&str, &str)> =
            [&[("authorization", &*bob), ("accept", "text/event-stream")][..], &stolen].concat();
        let status = send(served.port, method, &headers, "").status;
        // To end what one does not have changes nothing.
        assert!(status == 404 || (method == "DELETE" && status == 202), "{method}: {status}");
    }
    assert_eq!(
        session.request("tools/list", json!({}))["tools"][0]["name"],
        "search_capabilities",
        "it is still there"
    );
}

#[test]
fn a_run_is_its_callers_alone() {
    let Some(served) = Served::with_callers() else { return };
    let (ann, bob) = (served.session(ANN), served.session(BOB));
    let ran = ann.run(program("export default await hostile.echo({ message: 'hello' });"));
    assert_eq!(ran["status"], "done", "{ran}");
    let handle = ran["runId"].as_str().unwrap_or_else(|| panic!("{ran}"));
    let again = served.session(ANN).run(json!({ "resume": handle }));
    assert_eq!(again["status"], "done", "another session of hers: {again}");
    let stolen = bob.run(json!({ "resume": handle }));
    assert_eq!(stolen["status"], "failed", "{stolen}");
    assert!(stolen["error"]["message"].as_str().unwrap().contains("no run"), "{stolen}");
}

#[test]
fn a_session_that_nobody_uses_makes_room_for_the_next() {
    let Some(served) = Served::with_callers() else { return };
    let bobs = served.session(BOB);
    let first = served.session(ANN);
    let later: Vec<_> = (0..32).map(|_| served.session(ANN)).collect();
    let headers = [("mcp-session-id", &*first.id), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(served.post(ANN, &headers, &message(3, "ping", json!({}))).status, 404);
    later.last().unwrap().request("ping", json!({}));
    bobs.request("ping", json!({}));
}
