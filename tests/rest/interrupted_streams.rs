//! Streams over lost connections and killed servers: every event once, in order.

use crate::mcp::support::eventually;
use crate::rest::client::Api;
use crate::rest::event_stream::{StreamEvent, follow, follow_bytes};
use crate::rest::server::RestServer;
use serde_json::json;
use std::time::Duration;

/// Lines that the script prints, with a timer after every fourth.
const LINES: u64 = 400;

const SOURCE: &str = "for (let line = 0; line < 400; line += 1) {
    console.log(`line ${line}`, 'x'.repeat(line % 50));
    if (line % 4 === 3) await new Promise((done) => setTimeout(done, 20));
}
export default 'printed';";

/// Numbers that look random and are the same in every test run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> usize {
        // Knuth's MMIX generator: its high bits are good.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % most).unwrap()
    }
}

/// A client that connects again with the id of the last event that it got.
#[derive(Default)]
struct Follower {
    events: Vec<StreamEvent>,
    last: Option<String>,
}

impl Follower {
    /// Follows for this number of bytes. Returns true at the end of the stream.
    fn read(&mut self, api: &Api, path: &str, most: usize) -> bool {
        let events = follow_bytes(api, path, self.last.as_deref(), most);
        self.last = events.iter().rev().find_map(|event| event.id.clone()).or(self.last.take());
        self.events.extend(events);
        self.events.last().is_some_and(|event| event.name == "end")
    }

    /// Panics unless it got every event once and in order, as they are recorded.
    fn check(&self, api: &Api, run: &str) {
        let path = format!("/v1/runs/{run}/events");
        assert_eq!(self.events.len() as u64, LINES + 3, "start, finish and end");
        assert_eq!(self.events, follow(api, &path, None));
        let lines = self.events.iter().filter(|event| event.data["type"] == "console");
        for (number, line) in lines.enumerate() {
            assert!(line.data["text"].as_str().unwrap().starts_with(&format!("line {number} ")), "{line:?}");
            assert_eq!(line.id, Some((number + 1).to_string()));
        }
        let ended = api.ended(run);
        assert_eq!((&ended["status"], &ended["value"]), (&json!("finished"), &json!("printed")), "{ended}");
    }
}

#[test]
fn a_stream_that_is_cut_a_hundred_times_has_every_event_once() {
    let served = RestServer::new();
    let api = served.operator();
    let run = api.start(&api.new_space(), SOURCE);
    let path = format!("/v1/runs/{run}/events");
    let (mut follower, mut numbers) = (Follower::default(), Numbers(7));
    for cut in 0..100 {
        // Often within the head or the first event, now and then after several.
        let most = 1 + numbers.below(1_200);
        assert!(!follower.read(&api, &path, most), "it ended before cut {cut}");
    }
    assert!(follower.events.len() > 50, "some events came between the cuts: {}", follower.events.len());
    assert!(follower.read(&api, &path, usize::MAX));
    follower.check(&api, &run);
}

#[test]
fn a_server_that_is_killed_meanwhile_sends_every_event_once() {
    let mut served = RestServer::new();
    let api = served.operator();
    let run = api.start(&api.new_space(), SOURCE);
    let path = format!("/v1/runs/{run}/events");
    let (mut follower, mut numbers) = (Follower::default(), Numbers(11));
    for kill in 1..=3 {
        // About a quarter of the events later.
        while follower.events.len() < kill * 80 {
            let most = 1 + numbers.below(6_000);
            assert!(!follower.read(&served.operator(), &path, most), "it ended before kill {kill}");
        }
        // The connection is open when the server dies.
        let (api, last) = (served.operator(), follower.last.clone());
        let (listening, path) = (api.clone(), path.clone());
        let open = std::thread::spawn(move || follow_bytes(&listening, &path, last.as_deref(), usize::MAX));
        std::thread::sleep(Duration::from_millis(50));
        served = served.killed_and_started();
        let events = open.join().unwrap();
        follower.last = events.iter().rev().find_map(|event| event.id.clone()).or(follower.last.take());
        follower.events.extend(events);
    }
    let api = served.operator();
    assert!(eventually(Duration::from_secs(60), || follower.read(&api, &path, usize::MAX)));
    follower.check(&api, &run);
}

#[test]
fn a_stream_of_many_runs_survives_cuts_and_a_kill() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let source = "for (let line = 0; line < 150; line += 1) {
        console.log('line', line); await new Promise((done) => setTimeout(done, 15)); }";
    let runs: Vec<String> = (0..5).map(|_| api.start(&space, source)).collect();
    let query: Vec<String> = runs.iter().map(|run| format!("run={run}")).collect();
    let path = format!("/v1/events?{}", query.join("&"));
    let (mut follower, mut numbers) = (Follower::default(), Numbers(13));
    for _ in 0..20 {
        follower.read(&api, &path, 1 + numbers.below(2_000));
    }
    assert!(runs.iter().all(|run| api.status(run) != "finished"), "they are in progress when the server dies");
    let served = served.killed_and_started();
    let api = served.operator();
    for _ in 0..20 {
        follower.read(&api, &path, 1 + numbers.below(2_000));
    }
    let is_over = |follower: &Follower| {
        runs.iter().all(|run| follower.events.iter().any(|event| event.name == "end" && event.data["runId"] == *run))
    };
    assert!(eventually(Duration::from_secs(60), || {
        follower.read(&api, &path, usize::MAX);
        is_over(&follower)
    }));
    for run in &runs {
        let own = follower.events.iter().filter(|event| event.name == "message" && event.data["runId"] == *run);
        let seqs: Vec<u64> = own.map(|event| event.data["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (0..152).collect::<Vec<_>>(), "{run}");
    }
}
