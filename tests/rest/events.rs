//! Events as pages and as streams.

use crate::rest::client::{id, text};
use crate::rest::event_stream::{StreamEvent, follow};
use crate::rest::server::{RestServer, SLEEPS};
use serde_json::{Value, json};

/// Numbers of the events of a stream, without its end.
fn numbers(events: &[StreamEvent]) -> Vec<u64> {
    let messages = events.iter().filter(|event| event.name == "message");
    messages.map(|event| event.data["seq"].as_u64().unwrap()).collect()
}

#[test]
fn events_are_read_page_by_page() {
    let served = RestServer::new();
    let api = served.operator();
    let run = id(&api.run(&api.new_space(), "for (let line = 0; line < 25; line += 1) console.log('line', line);"));
    let path = format!("/v1/runs/{run}/events");
    let whole = api.get(&format!("{path}?limit=1000")).with_status(200).json();
    let all = whole["items"].as_array().unwrap();
    assert_eq!((&whole["ended"], &whole["next"]), (&json!(true), &json!(26)), "{whole}");
    let seqs: Vec<u64> = all.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..27).collect::<Vec<_>>());
    assert!(all.iter().all(|event| event["runId"] == run), "{whole}");
    assert_eq!((&all[0]["type"], &all[26]["type"]), (&json!("runStarted"), &json!("runFinished")));
    assert_eq!((&all[1]["text"], &all[25]["text"]), (&json!("line 0"), &json!("line 24")));

    let (mut paged, mut query) = (Vec::new(), "?limit=10".to_owned());
    loop {
        let page = api.get(&format!("{path}{query}")).with_status(200).json();
        paged.extend(page["items"].as_array().unwrap().clone());
        if page["ended"] == true {
            break;
        }
        query = format!("?limit=10&after={}", page["next"]);
    }
    assert_eq!(&paged, all);
    let none = api.get(&format!("{path}?after=26")).json();
    assert_eq!((&none["items"], &none["ended"]), (&json!([]), &json!(true)), "{none}");
    for wrong in ["after=x", "after=-1", "limit=0", "limit=1001", "follow=maybe", "from=1"] {
        let answer = api.get(&format!("{path}?{wrong}"));
        answer.problem(400, "request.invalid");
        let name = wrong.split('=').next().unwrap();
        assert_eq!(answer.json()["errors"][0]["parameter"], name, "{answer:?}");
    }
}

/// Numbers that no event has, up to more than the journal can count.
const AFTER_THE_END: [&str; 4] = ["27", "9223372036854775807", "18446744073709551615", "99999999999999999999999"];

#[test]
fn after_the_last_event_comes_an_empty_page_or_only_the_end() {
    let served = RestServer::new();
    let api = served.operator();
    let run = id(&api.run(&api.new_space(), "console.log('line');"));
    let path = format!("/v1/runs/{run}/events");
    for number in AFTER_THE_END {
        let page = api.get(&format!("{path}?after={number}")).with_status(200).json();
        assert_eq!((&page["items"], &page["ended"]), (&json!([]), &json!(true)), "{page}");
        assert!(page["next"].as_u64().is_some_and(|next| next >= 27), "{page}");
        let events = follow(&api, &path, Some(number));
        assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["end"], "{events:?}");
    }
}

#[test]
fn a_stream_after_the_last_event_goes_on_with_the_run() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let begun = "console.log('begun'); await new Promise((done) => setTimeout(done, 2_000)); console.log('done');";
    for number in [AFTER_THE_END[0], AFTER_THE_END[3]] {
        let run = api.start(&space, begun);
        let path = format!("/v1/runs/{run}/events");
        assert_eq!(follow(&api, &format!("{path}?follow=false"), Some(number)), []);
        let events = follow(&api, &path, Some(number));
        assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["end"], "{events:?}");
        assert_eq!(events[0].data["status"], "finished", "{events:?}");
    }
}

#[test]
fn a_stream_has_each_event_and_an_end() {
    let served = RestServer::new();
    let api = served.operator();
    let source = "for (let line = 0; line < 5; line += 1) {
        console.log('line\\n\\ndata: x', line); await new Promise((done) => setTimeout(done, 100)); }";
    let run = api.start(&api.new_space(), source);
    let path = format!("/v1/runs/{run}/events");
    let events = follow(&api, &path, None);
    assert_eq!(numbers(&events), (0..7).collect::<Vec<_>>(), "{events:?}");
    for event in &events[..7] {
        assert_eq!(event.id, Some(event.data["seq"].to_string()));
    }
    let end = StreamEvent { id: None, name: "end".to_owned(), data: json!({ "runId": run, "status": "finished" }) };
    assert_eq!(&events[7..], std::slice::from_ref(&end));
    let page = api.get(&format!("{path}?limit=1000")).json();
    let recorded: Vec<Value> = events[..7].iter().map(|event| event.data.clone()).collect();
    assert_eq!(page["items"], json!(recorded), "a page has the same events");

    assert_eq!(follow(&api, &path, Some("3")), events[4..]);
    assert_eq!(follow(&api, &format!("{path}?after=3"), None), events[4..]);
    assert_eq!(follow(&api, &format!("{path}?after=1"), Some("3")), events[4..], "the header is newer");
    assert_eq!(follow(&api, &path, Some("6")), [end]);
    for wrong in ["x", "-1", "1,2", "1.0"] {
        let headers = [("accept", "text/event-stream"), ("last-event-id", wrong)];
        api.send("GET", &path, &headers, b"").problem(400, "request.invalid");
    }
}

#[test]
fn a_finite_stream_ends_with_what_is_there() {
    let served = RestServer::new();
    let api = served.operator();
    let run = api.start(&api.new_space(), &format!("console.log('begun'); {SLEEPS}"));
    let path = format!("/v1/runs/{run}/events?follow=false");
    let is_begun = || numbers(&follow(&api, &path, None)).len() == 2;
    assert!(crate::mcp::support::eventually(std::time::Duration::from_secs(10), is_begun));
    let events = follow(&api, &path, None);
    assert!(events.iter().all(|event| event.name == "message"), "the run has not ended: {events:?}");
    assert_eq!(follow(&api, &path, Some("1")), []);
}

#[test]
fn one_stream_follows_many_runs() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let source = |run: usize| {
        format!(
            "for (let line = 0; line < 6; line += 1) {{
                console.log('{run}', line); await new Promise((done) => setTimeout(done, {})); }}",
            20 + run * 7
        )
    };
    let runs: Vec<String> = (0..8).map(|run| api.start(&space, &source(run))).collect();
    let query: Vec<String> = runs.iter().map(|run| format!("run={run}")).collect();
    let path = format!("/v1/events?{}", query.join("&"));
    let events = follow(&api, &path, None);
    for run in &runs {
        let own: Vec<StreamEvent> = events.iter().filter(|event| event.data["runId"] == *run).cloned().collect();
        assert_eq!(numbers(&own), (0..8).collect::<Vec<_>>(), "{run}");
        assert_eq!(own.last().unwrap().name, "end");
    }
    assert_eq!(events.len(), 8 * 9);

    // From any event on, the rest comes once, whatever the order among runs.
    let key = |event: &StreamEvent| (text(&event.data["runId"]), event.data["seq"].as_u64());
    for place in [0, 1, 17, 40, 63] {
        let last = events[..=place].iter().rev().find_map(|event| event.id.clone()).unwrap();
        assert_eq!(last.split(',').count(), 8, "{last}");
        let mut seen: Vec<_> = events[..=place].iter().filter(|event| event.id.is_some()).map(key).collect();
        let rest = follow(&api, &path, Some(&last));
        seen.extend(rest.iter().filter(|event| event.id.is_some()).map(key));
        let mut all: Vec<_> = events.iter().filter(|event| event.id.is_some()).map(key).collect();
        seen.sort();
        all.sort();
        assert_eq!(seen, all, "after {last}");
    }
    let sse = [("accept", "text/event-stream")];
    for wrong in ["1", "1,2,3,4,5,6,7,8,9", "x,,,,,,,"] {
        api.send("GET", &path, &[sse[0], ("last-event-id", wrong)], b"").problem(400, "request.invalid");
    }
    api.get("/v1/events").problem(400, "request.invalid");
    api.get(&format!("/v1/events?{}", vec![query[0].clone(); 65].join("&"))).problem(400, "request.invalid");
    api.get(&format!("{path}&run=run_000000000000000000000000")).problem(404, "not_found");
}
