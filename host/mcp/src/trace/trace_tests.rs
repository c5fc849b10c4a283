//! Tests of trace lines.

use super::*;
use agent_spaces_secrets::Secret;
use std::sync::Mutex;

fn line(server: &str, text: &str) -> String {
    let redactor = Redactor::default();
    redactor.add(&Secret::new("hunter2hunter2"));
    let found = Arc::new(Mutex::new(String::new()));
    let sink = found.clone();
    Trace::to(redactor, move |line| line.as_str().clone_into(&mut sink.lock().expect("lock")))
        .line(server, || text.to_owned());
    found.lock().expect("lock").clone()
}

#[test]
fn a_line_names_its_server_and_stays_one_line() {
    assert_eq!(line("slack", "→ tools/call\n{}"), "[mcp] slack: → tools/call {}");
    assert_eq!(line("sl\u{1b}ack\nx", "y"), "[mcp] sl<U+001B>ack x: y");
}

#[test]
fn secrets_and_authorization_are_masked() {
    assert_eq!(line("x", "key hunter2hunter2."), "[mcp] x: key [redacted].");
    assert_eq!(line("x", "authorization: Bearer other"), "[mcp] x: authorization: Bearer [redacted]");
}

#[test]
fn a_secret_at_the_cut_is_masked_whole() {
    for before in MAX_LINE - 40..MAX_LINE {
        let cut = line("x", &format!("{}hunter2hunter2", "a".repeat(before)));
        assert!(!cut.contains("hunt"), "{before}");
        assert!(cut.chars().count() <= MAX_LINE);
    }
}

#[test]
fn lines_are_not_formatted_when_tracing_is_off() {
    let off = Trace::default();
    assert!(!off.is_on());
    off.line("x", || panic!("tracing is off"));
}
