//! Tests of lost sessions and of tools that change during a session.

use super::*;
use crate::lock::LockedEndpoint;
use crate::transport::testing::{self, Reply, Seen, answer, as_json, bare, response};
use agent_spaces_secrets::Redactor;
use serde_json::json;

/// Deviations of the server from [`as_json`].
#[derive(Clone, Copy, Default)]
struct Behaviour {
    /// Sends `tools/list_changed` before the result of a call.
    announces: bool,
    /// Answers only the next call with 404, for an unknown session.
    forgets: bool,
    /// Answers `tools/list` with an error.
    hides_tools: bool,
    /// Lists the tool with another schema.
    changes_tools: bool,
}

struct Fixture {
    web: testing::Server,
    behaviour: Arc<Mutex<Behaviour>>,
    server: Server,
}

impl Fixture {
    /// Starts a server whose lock entry matches all its tools.
    async fn accepted() -> Fixture {
        let behaviour = Arc::<Mutex<Behaviour>>::default();
        let current = behaviour.clone();
        let web = testing::Server::start(move |seen| reply(seen, &mut current.lock().unwrap())).await;
        let settings = testing::settings(&web.url).0;
        let resolve = move || Ok(settings.clone());
        let stranger = Server::new(&Context::default(), None, resolve.clone());
        let listing = stranger.list().await.unwrap();
        let accepted = listing.locked(LockedEndpoint::remote(&web.url), &Redactor::default()).unwrap();
        stranger.close().await;
        let server = Server::new(&Context::default(), Some(Arc::new(accepted)), resolve);
        Fixture { web, behaviour, server }
    }

    fn set(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    async fn call(&self) -> Result<Value, CallError> {
        self.server.call("older", Map::new(), CallOptions::default()).await
    }

    /// Counts the requests with this method.
    fn count(&self, method: &str) -> usize {
        self.web.seen().iter().filter(|seen| seen.method() == method).count()
    }

    /// Waits for `tools/list_changed`: the result may be handled before the notification sent with it.
    async fn announced(&self) {
        let session = self.server.session().await.unwrap();
        let heard = async {
            while session.connection.shared.tools_generation() == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), heard).await.expect("no notification");
    }
}

fn reply(seen: &Seen, behaviour: &mut Behaviour) -> Reply {
    let Some(mut answer) = answer(&seen.body) else { return as_json(seen) };
    match seen.method() {
        "tools/call" if behaviour.forgets => {
            behaviour.forgets = false;
            return Reply::Whole(bare("404 Not Found", ""));
        }
        "tools/call" if behaviour.announces => {
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            let events = format!("data: {changed}\n\ndata: {answer}\n\n");
            return Reply::Whole(response("200 OK", "text/event-stream", &events));
        }
        "tools/list" if behaviour.hides_tools => {
            answer = json!({ "jsonrpc": "2.0", "id": seen.body["id"], "error": { "code": -7, "message": "no" } });
        }
        "tools/list" if behaviour.changes_tools => {
            answer["result"]["tools"][0]["parameters"]["properties"]["b"] = json!({ "type": "string" });
        }
        _ => return as_json(seen),
    }
    Reply::Whole(response("200 OK", "application/json", &answer.to_string()))
}

#[tokio::test]
async fn calls_are_refused_while_changed_tools_cannot_be_listed() {
    let fixture = Fixture::accepted().await;
    fixture.set(Behaviour { announces: true, ..Behaviour::default() });
    assert_eq!(fixture.call().await, Ok("older".into()));
    fixture.announced().await;
    fixture.set(Behaviour { hides_tools: true, ..Behaviour::default() });
    for _ in 0..3 {
        let refused = fixture.call().await;
        assert!(matches!(refused, Err(CallError::Protocol { code: -7, .. })), "{refused:?}");
    }
    assert_eq!(fixture.count("tools/call"), 1);
    // The tools match the lock again.
    fixture.set(Behaviour::default());
    assert_eq!(fixture.call().await, Ok("older".into()));
}

#[tokio::test]
async fn an_idempotency_key_is_sent_as_metadata() {
    let fixture = Fixture::accepted().await;
    assert_eq!(fixture.call().await, Ok("older".into()));
    let options = CallOptions { idempotency_key: Some("run_1/2".to_owned()), ..CallOptions::default() };
    assert_eq!(fixture.server.call("older", Map::new(), options).await, Ok("older".into()));
    let seen = fixture.web.seen();
    let keys = seen.iter().filter(|seen| seen.method() == "tools/call").map(|seen| {
        let meta = &seen.body["params"]["_meta"];
        assert!(!meta["progressToken"].is_null(), "{meta}");
        meta["agent-spaces/idempotencyKey"].clone()
    });
    assert_eq!(keys.collect::<Vec<_>>(), [Value::Null, json!("run_1/2")]);
}

#[tokio::test]
async fn a_forgotten_session_is_an_error_and_the_next_call_opens_a_new_one() {
    let fixture = Fixture::accepted().await;
    assert_eq!(fixture.call().await, Ok("older".into()));
    let (sessions, lists) = (fixture.count("initialize"), fixture.count("tools/list"));
    fixture.set(Behaviour { forgets: true, ..Behaviour::default() });
    assert_eq!(fixture.call().await, Err(CallError::Expired));
    assert_eq!(fixture.count("tools/call"), 2, "it is not sent again");
    assert_eq!(fixture.call().await, Ok("older".into()));
    assert_eq!((fixture.count("initialize"), fixture.count("tools/list")), (sessions + 1, lists + 1));
}

#[tokio::test]
async fn a_session_after_a_forgotten_one_is_checked_against_the_lock() {
    let fixture = Fixture::accepted().await;
    assert_eq!(fixture.call().await, Ok("older".into()));
    fixture.set(Behaviour { forgets: true, changes_tools: true, ..Behaviour::default() });
    assert_eq!(fixture.call().await, Err(CallError::Expired));
    let refused = fixture.call().await;
    assert!(matches!(refused, Err(CallError::Changed(_))), "{refused:?}");
    assert_eq!(fixture.count("tools/call"), 2);
}

#[tokio::test]
async fn what_was_last_seen_is_kept_without_a_start() {
    let fixture = Fixture::accepted().await;
    let accepted = fixture.server.shared.accepted.get().cloned();
    let seen = Arc::<LastSeen>::default();
    let settings = testing::settings(&fixture.web.url).0;
    let server = Server::seen_in(&Context::default(), accepted, move || Ok(settings.clone()), seen.clone());
    assert!(seen.get().is_none() && !server.is_connected(), "nothing is started");
    server.get_ready().await.unwrap();
    let offer = seen.get().unwrap().outcome.unwrap();
    assert!(server.is_connected() && offer.changed.is_none() && offer.tools > Some(0), "{offer:?}");
    server.close().await;
    assert!(!server.is_connected());
    fixture.set(Behaviour { changes_tools: true, ..Behaviour::default() });
    server.get_ready().await.unwrap();
    let offer = seen.get().unwrap().outcome.unwrap();
    assert!(offer.changed.is_some(), "{offer:?}");
    let refuses = || Err(ConnectError::Refused("not accepted".into()));
    let refused = Server::seen_in(&Context::default(), None, refuses, seen.clone());
    assert!(refused.get_ready().await.is_err());
    assert!(matches!(seen.get().unwrap().outcome, Err(ConnectError::Refused(_))));
}
