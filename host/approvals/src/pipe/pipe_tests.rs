use super::{MAX_LINE, PipeChannel};
use crate::channel::{Channel, ChannelError};
use crate::decision::{Decision, Lasts};
use crate::fixtures::{request, until};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

struct Other {
    end: DuplexStream,
    reports: Arc<Mutex<Vec<String>>>,
}

impl Other {
    async fn writes(&mut self, line: &str) {
        self.end.write_all(line.as_bytes()).await.unwrap();
        self.end.write_all(b"\n").await.unwrap();
    }

    /// The next report, after those that were taken before.
    async fn report(&self) -> String {
        until("a report", || !self.reports.lock().unwrap().is_empty()).await;
        self.reports.lock().unwrap().remove(0)
    }
}

fn channel() -> (PipeChannel, Other) {
    let (end, ours) = duplex(1 << 20);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&reports);
    (PipeChannel::new(ours, move |text| told.lock().unwrap().push(text.to_string())), Other { end, reports })
}

#[tokio::test]
async fn a_line_decides_the_request_it_names() {
    let (channel, mut other) = channel();
    let (one, two) = (request(), request());
    let (first, second) = (channel.ask(one.clone()), channel.ask(two.clone()));
    other.writes(&format!(r#"{{"id":"{}","decision":"deny","reason":"no","by":"ada"}}"#, two.id)).await;
    other.writes("").await;
    other.writes(&format!(r#"{{"id":"{}","decision":"approve","for":"run"}}"#, one.id)).await;
    assert_eq!(second.await.unwrap(), Decision::deny("ada", Some("no".into())));
    assert_eq!(first.await.unwrap(), Decision::approve("pipe").lasting(Lasts::Run));
    assert!(other.reports.lock().unwrap().is_empty());
}

#[tokio::test]
async fn unknown_repeated_and_late_decisions_are_reported_and_ignored() {
    let (channel, mut other) = channel();
    let decided = request();
    let line = |id: &str, decision: &str| format!(r#"{{"id":"{id}","decision":"{decision}"}}"#);
    other.writes(&line(&decided.id, "approve")).await;
    assert_eq!(other.report().await, format!("no pending request {}", decided.id));

    let answer = channel.ask(decided.clone());
    other.writes(&line(&decided.id, "deny")).await;
    other.writes(&line(&decided.id, "approve")).await;
    assert_eq!(answer.await.unwrap(), Decision::deny("pipe", None));
    assert_eq!(other.report().await, format!("{} is already decided: the first decision counts", decided.id));

    let gone = request();
    drop(channel.ask(gone.clone()));
    other.writes(&line(&gone.id, "approve")).await;
    assert!(other.report().await.contains("came too late"));
    channel.too_late(&gone);
    assert!(other.report().await.contains("came too late"));
    assert!(channel.shared.state().waiting.is_empty());
}

#[tokio::test]
async fn invalid_lines_are_reported_and_skipped() {
    let (channel, mut other) = channel();
    let asked = request();
    let answer = channel.ask(asked.clone());
    let id = &asked.id;
    for line in [
        "approve",
        "{}",
        "[1]",
        r#"{"id":"\u001b[2J","decision":"approve"}"#,
        &format!(r#"{{"id":"{id}"}}"#),
        &format!(r#"{{"id":"{id}","decision":"Approve"}}"#),
        &format!(r#"{{"id":"{id}","decision":true}}"#),
        &format!(r#"{{"id":"{id}","decision":"approve","for":"ever"}}"#),
        &format!(r#"{{"id":"{id}","decision":"approve","force":true}}"#),
        &format!(r#"{{"id":"{id}","decision":"deny","decision":"approve"}}"#),
        &format!(r#"{{"id":"{id}","decision":"approve","reason":"{}"}}"#, "x".repeat(MAX_LINE)),
        &"x".repeat(10 * MAX_LINE),
        "\u{202e}",
    ] {
        other.writes(line).await;
        let report = other.report().await;
        assert!(!report.chars().any(agent_spaces_types::hidden::is_hidden), "{report:?}");
    }
    other.end.write_all(b"\xff\xfe\n").await.unwrap();
    other.report().await;
    other.writes(&format!(r#"{{"id":"{id}","decision":"deny"}}"#)).await;
    assert_eq!(answer.await.unwrap(), Decision::deny("pipe", None));
}

#[tokio::test]
async fn after_the_end_of_the_stream_requests_fail() {
    let (channel, mut other) = channel();
    let (one, two) = (request(), request());
    let (first, second) = (channel.ask(one.clone()), channel.ask(two));
    // The last line need not be ended.
    let line = format!(r#"{{"id":"{}","decision":"approve"}}"#, one.id);
    other.end.write_all(line.as_bytes()).await.unwrap();
    drop(other.end);
    assert_eq!(first.await.unwrap(), Decision::approve("pipe"));
    for answer in [second.await, channel.ask(request()).await] {
        let Err(ChannelError::Nobody(why)) = answer else { panic!("{answer:?}") };
        assert_eq!(why, "the stream of decisions has ended");
    }
    assert!(channel.shared.state().waiting.is_empty());
}

#[tokio::test]
async fn the_reader_ends_with_its_channel() {
    let (channel, other) = channel();
    let shared = Arc::downgrade(&channel.shared);
    drop(channel);
    until("the reader has ended", || shared.strong_count() == 0).await;
    assert!(other.reports.lock().unwrap().is_empty());
}
