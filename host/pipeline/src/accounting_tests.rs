//! Tests of the usage log, with one writer and with several.

use super::*;
use agent_spaces_secrets::Secret;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

fn entry(command: &str, error: Option<&str>) -> Entry {
    Entry {
        began: SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
        latency: Duration::from_micros(12_345),
        characters_in: 10,
        characters_out: 20,
        provider: Provider::Server("slack".to_owned()),
        command: command.to_owned(),
        function_id: None,
        caller: None,
        error: error.map(str::to_owned),
    }
}

fn open(path: &Path) -> Accounting {
    let redactor = Redactor::default();
    redactor.add(&Secret::new("hunter2hunter2"));
    Accounting::to_file(path, redactor).expect("opens")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("readable");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn an_entry_has_exactly_these_keys() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("calls.jsonl");
    let accounting = open(&path);
    accounting.record(entry("post_message", None));
    accounting.record(entry("post_message", Some("bad\nkey hunter2hunter2")));
    let mut expected = json!({
        "type": "tool", "timestamp": "2023-11-14T22:13:20.123Z", "status": "ok", "latency": 12.345,
        "charactersIn": 10, "charactersOut": 20, "mcpServer": "slack", "command": "post_message",
    });
    let found = lines(&path);
    assert_eq!(found[0], expected);
    expected["status"] = json!("failed");
    expected["error"] = json!("bad key [redacted]");
    assert_eq!(found[1], expected);
}

#[test]
fn an_entry_names_the_caller() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("calls.jsonl");
    open(&path).record(Entry { caller: Some("ann\nhunter2hunter2".to_owned()), ..entry("post_message", None) });
    assert_eq!(lines(&path)[0]["caller"], "ann [redacted]");
}

#[test]
fn an_error_is_redacted_before_truncation() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("calls.jsonl");
    let accounting = open(&path);
    for before in 480..500 {
        accounting.record(entry("x", Some(&format!("{}hunter2hunter2", "a".repeat(before)))));
    }
    for line in lines(&path) {
        let error = line["error"].as_str().expect("text");
        assert!(!error.contains("hunt") && error.chars().count() <= 500, "{error}");
    }
}

#[test]
fn the_file_is_private_and_appended_to() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a/b/calls.jsonl");
    open(&path).record(entry("one", None));
    open(&path).record(entry("two", None));
    assert_eq!(lines(&path).len(), 2);
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
}

#[test]
fn lines_of_concurrent_writers_do_not_interleave() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("calls.jsonl");
    std::thread::scope(|scope| {
        // Each thread opens the file itself, as processes do.
        for writer in 0..8 {
            let accounting = open(&path);
            scope.spawn(move || {
                for _ in 0..200 {
                    accounting.record(entry("tool", Some(&writer.to_string().repeat(400))));
                }
            });
        }
    });
    let found = lines(&path);
    assert_eq!(found.len(), 8 * 200);
    for line in found {
        let error = line["error"].as_str().expect("text");
        assert!(error.len() == 400 && error.chars().all(|digit| error.starts_with(digit)), "{error}");
    }
}

/// Collects the messages of warnings to the operator.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct Message(String);
        impl Visit for Message {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                assert_eq!(field.name(), "message");
                self.0 = format!("{value:?}");
            }
        }
        assert_eq!((event.metadata().target(), *event.metadata().level()), (OPERATOR_TARGET, Level::WARN));
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().expect("lock").push(message.0);
    }
}

/// Returns the warnings of this work, which stays on this thread.
fn warnings(work: impl FnOnce()) -> Vec<String> {
    let collected = Warnings::default();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(collected.clone()), work);
    let all = collected.0.lock().expect("lock");
    all.clone()
}

#[test]
fn a_full_disk_warns_once_and_fails_no_call() {
    let accounting = Accounting::to_file(Path::new("/dev/full"), Redactor::default()).expect("opens");
    let said = warnings(|| {
        accounting.record(entry("x", None));
        accounting.record(entry("x", None));
    });
    assert!(said.len() == 1 && said[0].starts_with("calls are no longer recorded: "), "{said:?}");
    Accounting::default().record(entry("x", None));
    let folder = tempfile::tempdir().expect("folder");
    let accounting = open(&folder.path().join("calls.jsonl"));
    assert_eq!(warnings(|| accounting.record(entry("x", None))), Vec::<String>::new());
}

#[test]
fn lost_calls_are_reported_when_writing_works_again() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("calls.jsonl");
    let accounting = Accounting::to_file(Path::new("/dev/full"), Redactor::default()).expect("opens");
    accounting.record(entry("first", None));
    accounting.record(entry("second", None));
    let room = OpenOptions::new().append(true).create(true).open(&path).expect("opens");
    accounting.0.as_ref().expect("a writer").log.lock().expect("lock").file = room;
    accounting.record(entry("third", None));
    accounting.record(entry("fourth", None));
    let found = lines(&path);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!((&found[0]["type"], &found[0]["calls"]), (&json!("gap"), &json!(2)));
    assert_eq!(found[0]["from"], "2023-11-14T22:13:20.123Z");
    assert_eq!((&found[1]["command"], &found[2]["command"]), (&json!("third"), &json!("fourth")));
}
