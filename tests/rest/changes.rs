//! Stream of the changes of runs and approvals.

use crate::rest::client::{Answer, Api, id};
use crate::rest::event_stream::{StreamEvent, parse};
use crate::rest::server::{REMOVES, RestServer, SLEEPS};
use serde_json::{Value, json};
use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Streams that one caller may have.
const MAX_STREAMS: usize = 32;

/// Time within which a change must come, on a slow machine.
const SOON: Duration = Duration::from_secs(20);

/// Open stream, with what came so far.
pub(super) struct Changes {
    stream: TcpStream,
    bytes: Vec<u8>,
    is_over: bool,
}

impl Changes {
    /// Connects, and waits until the server knows that somebody follows.
    pub(super) fn follow(api: &Api) -> Changes {
        let stream = api.open("GET", "/v1/changes", &[("accept", "text/event-stream")], b"");
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut changes = Changes { stream, bytes: Vec::new(), is_over: false };
        changes.read_until("it begins", |answer| !answer.body.is_empty());
        let answer = changes.answer().unwrap().with_status(200);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
        changes
    }

    fn answer(&self) -> Option<Answer> {
        Answer::parse(&self.bytes)
    }

    fn read(&mut self) {
        let mut some = [0; 4_096];
        match self.stream.read(&mut some) {
            Ok(0) => self.is_over = true,
            Ok(count) => self.bytes.extend_from_slice(&some[..count]),
            // Nothing came within the time.
            Err(_) => {}
        }
    }

    #[track_caller]
    fn read_until(&mut self, what: &str, is_so: impl Fn(&Answer) -> bool) {
        let begun = Instant::now();
        while !self.answer().is_some_and(|answer| is_so(&answer)) {
            assert!(!self.is_over && begun.elapsed() < SOON, "{what}: {:?}", self.answer());
            self.read();
        }
    }

    /// Returns all events so far.
    pub(super) fn events(&self) -> Vec<StreamEvent> {
        self.answer().map(|answer| parse(&answer.body)).unwrap_or_default()
    }

    /// Waits until something of this name has this state, and returns the data of the event.
    #[track_caller]
    pub(super) fn until(&mut self, name: &str, id: &str, status: &str) -> Value {
        let is_meant =
            |event: &StreamEvent| event.name == name && event.data["id"] == id && event.data["status"] == status;
        self.read_until(&format!("{name} {id} {status}"), |answer| parse(&answer.body).iter().any(is_meant));
        self.events().into_iter().find(is_meant).unwrap().data
    }
}

/// Returns the request of a run that waits.
fn approval_of(api: &Api, run: &str) -> String {
    id(&api.get(&format!("/v1/approvals?run={run}")).with_status(200).json()["items"][0])
}

#[test]
fn changes_are_sent_to_those_who_may_see_them() {
    let served = RestServer::new();
    let (operator, ann, bob) = (served.operator(), served.caller(0), served.caller(1));
    let mut streams = [Changes::follow(&operator), Changes::follow(&ann)];
    let mut others = Changes::follow(&bob);
    let space = ann.new_space();
    let new = json!({ "source": REMOVES, "name": "tidy.ts" });
    let run = id(&ann.post(&format!("/v1/spaces/{space}/runs"), &new).json());
    for stream in &mut streams {
        let asks = stream.until("run", &run, "awaiting_approval");
        assert_eq!((&asks["spaceId"], &asks["name"]), (&json!(space), &json!("tidy.ts")), "{asks}");
        assert!(asks["updatedAt"].is_string(), "{asks}");
    }
    let approval = approval_of(&ann, &run);
    for stream in &mut streams {
        assert_eq!(stream.until("approval", &approval, "pending")["runId"], run);
    }
    ann.post(&format!("/v1/approvals/{approval}/decision"), &json!({ "decision": "approve" })).with_status(200);
    for stream in &mut streams {
        stream.until("approval", &approval, "approved");
        let ended = stream.until("run", &run, "finished");
        assert_eq!(ended["updatedAt"], ann.get(&format!("/v1/runs/{run}")).json()["updatedAt"]);
        assert!(stream.events().iter().all(|event| event.id.is_none()), "nothing can be resumed");
    }
    let own = id(&bob.run(&bob.new_space(), "export default 1;"));
    others.until("run", &own, "finished");
    let strange: Vec<StreamEvent> = others.events().into_iter().filter(|event| event.data["id"] != *own).collect();
    assert!(strange.is_empty(), "{strange:?}");
    streams[0].until("run", &own, "finished");
}

/// Another server and a command, with the same data folder.
#[test]
fn changes_by_other_processes_are_sent() {
    let served = RestServer::new();
    let mut changes = Changes::follow(&served.operator());
    let other = RestServer::start(&served.home, &[]);
    let api = other.operator();
    let space = api.new_space();
    let asking = api.start(&space, REMOVES);
    changes.until("run", &asking, "awaiting_approval");
    let approval = approval_of(&api, &asking);
    changes.until("approval", &approval, "pending");
    let decision = json!({ "decision": "deny" });
    api.post(&format!("/v1/approvals/{approval}/decision"), &decision).with_status(200);
    changes.until("approval", &approval, "denied");
    changes.until("run", &asking, "finished");
    let sleeping = api.start(&space, SLEEPS);
    changes.until("run", &sleeping, "waiting");
    assert_eq!(served.home.finish(&["runs", "cancel", &sleeping]).status, Some(0));
    changes.until("run", &sleeping, "cancelled");
}

#[test]
fn a_caller_has_a_bounded_number_of_streams() {
    let served = RestServer::new();
    let (ann, bob) = (served.caller(0), served.caller(1));
    let mut streams: Vec<Changes> = (0..MAX_STREAMS).map(|_| Changes::follow(&ann)).collect();
    ann.get("/v1/changes").problem(429, "request.busy");
    let _other = Changes::follow(&bob);
    // The server notices that a client is gone when it writes.
    streams.truncate(MAX_STREAMS - 1);
    let space = ann.new_space();
    let is_free = crate::mcp::support::eventually(SOON, || {
        ann.run(&space, "export default 1;");
        let mut stream = ann.open("GET", "/v1/changes", &[], b"");
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        &first == b"HTTP/1.1 200"
    });
    assert!(is_free, "it never ends");
}

#[test]
fn a_stream_ends_with_the_server() {
    let served = RestServer::new();
    let mut changes = Changes::follow(&served.operator());
    let took = served.terminated();
    assert!(took < Duration::from_secs(5), "{took:?}");
    let begun = Instant::now();
    while !changes.is_over {
        assert!(begun.elapsed() < SOON, "it goes on");
        changes.read();
    }
}
