//! Sessions that end, and tools that change while one is open.

use super::*;
use crate::lock::LockedEndpoint;
use crate::secrets::Redactor;
use crate::transport::testing::{self, Reply, Seen, answer, as_json, bare, response};
use serde_json::json;

/// What the server does otherwise than [`as_json`].
#[derive(Clone, Copy, Default)]
struct Manners {
    /// A call is answered after saying that the tools changed.
    announces: bool,
    /// The next call, and no other, is of a session that it does not know.
    forgets: bool,
    /// The tools are not listed.
    hides_tools: bool,
    /// The tool has another schema.
    changes_tools: bool,
}

struct Fixture {
    web: testing::Server,
    manners: Arc<Mutex<Manners>>,
    server: Server,
}

impl Fixture {
    /// A server of which everything was accepted.
    async fn accepted() -> Fixture {
        let manners = Arc::<Mutex<Manners>>::default();
        let current = manners.clone();
        let web = testing::Server::start(move |seen| reply(seen, &mut current.lock().unwrap())).await;
        let settings = testing::settings(&web.url).0;
        let resolve = move || Ok(settings.clone());
        let stranger = Server::new(&Context::default(), None, resolve.clone());
        let listing = stranger.list().await.unwrap();
        let accepted = listing.locked(LockedEndpoint::remote(&web.url), &Redactor::default()).unwrap();
        stranger.close().await;
        let server = Server::new(&Context::default(), Some(Arc::new(accepted)), resolve);
        Fixture { web, manners, server }
    }

    fn now(&self, manners: Manners) {
        *self.manners.lock().unwrap() = manners;
    }

    async fn call(&self) -> Result<Value, CallError> {
        self.server.call("older", Map::new(), None).await
    }

    /// How often it was asked this.
    fn count(&self, method: &str) -> usize {
        self.web.seen().iter().filter(|seen| seen.method() == method).count()
    }

    /// The answer may be heard before the announcement that came with it.
    async fn announced(&self) {
        let session = self.server.session().await.unwrap();
        let heard = async {
            while session.connection.shared.tools_generation() == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), heard).await.expect("it is not heard");
    }
}

fn reply(seen: &Seen, manners: &mut Manners) -> Reply {
    let Some(mut answer) = answer(&seen.body) else { return as_json(seen) };
    match seen.method() {
        "tools/call" if manners.forgets => {
            manners.forgets = false;
            return Reply::Whole(bare("404 Not Found", ""));
        }
        "tools/call" if manners.announces => {
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            let events = format!("data: {changed}\n\ndata: {answer}\n\n");
            return Reply::Whole(response("200 OK", "text/event-stream", &events));
        }
        "tools/list" if manners.hides_tools => {
            answer = json!({ "jsonrpc": "2.0", "id": seen.body["id"], "error": { "code": -7, "message": "no" } });
        }
        "tools/list" if manners.changes_tools => {
            answer["result"]["tools"][0]["parameters"]["properties"]["b"] = json!({ "type": "string" });
        }
        _ => return as_json(seen),
    }
    Reply::Whole(response("200 OK", "application/json", &answer.to_string()))
}

#[tokio::test]
async fn h_17_while_changed_tools_cannot_be_listed_every_call_is_refused() {
    let fixture = Fixture::accepted().await;
    fixture.now(Manners { announces: true, ..Manners::default() });
    assert_eq!(fixture.call().await, Ok("older".into()));
    fixture.announced().await;
    fixture.now(Manners { hides_tools: true, ..Manners::default() });
    for _ in 0..3 {
        let refused = fixture.call().await;
        assert!(matches!(refused, Err(CallError::Protocol { code: -7, .. })), "{refused:?}");
    }
    assert_eq!(fixture.count("tools/call"), 1);
    // Listed again, they are what was accepted.
    fixture.now(Manners::default());
    assert_eq!(fixture.call().await, Ok("older".into()));
}

#[tokio::test]
async fn s1_30_a_forgotten_session_is_told_and_the_next_call_has_another() {
    let fixture = Fixture::accepted().await;
    assert_eq!(fixture.call().await, Ok("older".into()));
    let (sessions, lists) = (fixture.count("initialize"), fixture.count("tools/list"));
    fixture.now(Manners { forgets: true, ..Manners::default() });
    assert_eq!(fixture.call().await, Err(CallError::Expired));
    assert_eq!(fixture.count("tools/call"), 2, "it is not sent again");
    assert_eq!(fixture.call().await, Ok("older".into()));
    assert_eq!((fixture.count("initialize"), fixture.count("tools/list")), (sessions + 1, lists + 1));
}

#[tokio::test]
async fn h_17_the_session_after_a_forgotten_one_is_held_to_what_was_accepted() {
    let fixture = Fixture::accepted().await;
    assert_eq!(fixture.call().await, Ok("older".into()));
    fixture.now(Manners { forgets: true, changes_tools: true, ..Manners::default() });
    assert_eq!(fixture.call().await, Err(CallError::Expired));
    let refused = fixture.call().await;
    assert!(matches!(refused, Err(CallError::Changed(_))), "{refused:?}");
    assert_eq!(fixture.count("tools/call"), 2);
}
