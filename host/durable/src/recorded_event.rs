//! Recorded events that a replay repeats, and their comparison.

use agent_spaces_secrets::MASK;
use serde::Deserialize;
use serde_json::Value;

/// Events that follow from what the script does. Others follow from what providers and people do.
const OWN_EVENTS: [&str; 7] =
    ["runStarted", "console", "callScheduled", "callResult", "callError", "limitReached", "runFinished"];

/// Events at the end of a run.
const LAST_EVENTS: [&str; 2] = ["limitReached", "runFinished"];

/// Members of events that measure time: they differ between runs that are the same otherwise.
const TIMES: [&str; 3] = ["timestamp", "durationMs", "wallMs"];

/// Beginning of an event.
#[derive(Deserialize)]
pub(crate) struct EventHead<'a> {
    /// Type of the event.
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    /// Sequence number.
    pub(crate) seq: u64,
}

/// Event of the journal, as it was sent.
#[derive(Debug)]
pub(crate) struct RecordedEvent {
    text: String,
}

impl RecordedEvent {
    pub(crate) fn new(text: String) -> RecordedEvent {
        RecordedEvent { text }
    }

    /// Returns its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns its JSON.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// Compares it with an event of the replayed run. Returns that event with the recorded times, which is the recorded
    /// text byte for byte unless a secret was redacted, and the sequence number of the next event.
    pub(crate) fn repeat(&self, seen: &Value) -> Option<(String, u64)> {
        let recorded = self.value();
        let mut seen = seen.clone();
        take_times(&mut seen, &recorded);
        // The sequence number counts the events of providers and people too.
        seen["seq"] = recorded["seq"].clone();
        let again = seen.to_string();
        if again == self.text {
            return Some((again, self.next_seq(&recorded)));
        }
        let is_redacted = again.contains(MASK) || self.text.contains(MASK);
        (is_redacted && is_same(&seen, &recorded)).then(|| (self.text.clone(), self.next_seq(&recorded)))
    }

    /// Returns its text and the sequence number of the next event if both events are about the same call.
    pub(crate) fn of_same_call(&self, seen: &Value) -> Option<(String, u64)> {
        let recorded = self.value();
        let is_same = recorded.get("callId").is_some() && recorded["callId"] == seen["callId"];
        is_same.then(|| (self.text.clone(), self.next_seq(&recorded)))
    }

    fn next_seq(&self, recorded: &Value) -> u64 {
        recorded["seq"].as_u64().unwrap_or_default().saturating_add(1)
    }
}

/// Returns true if events with this name follow from what the script does.
pub(crate) fn is_own_event(name: &str) -> bool {
    OWN_EVENTS.contains(&name)
}

/// Returns true if events with this name are those of a run's end.
pub(crate) fn is_last_event(name: &str) -> bool {
    LAST_EVENTS.contains(&name)
}

/// Compares values. A text from which a secret was redacted, when it was recorded or now, counts as the same: which
/// secrets are known differs between hosts, and fuel is compared anyway.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one == other || one.contains(MASK) || other.contains(MASK),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in = |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(is_in)
        }
        _ => one == other,
    }
}

/// Copies the measured times of `recorded` into `seen`: those of the event itself and of its usage, not of arguments.
fn take_times(seen: &mut Value, recorded: &Value) {
    for time in TIMES {
        for path in [format!("/{time}"), format!("/usage/{time}")] {
            if let (Some(seen), Some(recorded)) = (seen.pointer_mut(&path), recorded.pointer(&path)) {
                *seen = recorded.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recorded_event::{RecordedEvent, is_same};
    use serde_json::json;

    #[test]
    fn redacted_texts_count_as_the_same() {
        let recorded = json!({ "text": "key [redacted]", "list": [1, "a"] });
        assert!(is_same(&recorded, &json!({ "text": "key hunter2", "list": [1, "a"] })));
        assert!(is_same(&json!("hunter2"), &json!("[redacted]")));
        for other in [
            json!({ "text": "key [redacted]", "list": [1, "b"] }),
            json!({ "text": "key [redacted]", "list": [1, "a"], "more": 1 }),
            json!({ "text": 7, "list": [1, "a"] }),
        ] {
            assert!(!is_same(&recorded, &other), "{other}");
        }
    }

    #[test]
    fn only_times_and_redacted_texts_may_differ() {
        let text = r#"{"type":"console","text":"a","timestamp":"t1","seq":3}"#.to_owned();
        let recorded = RecordedEvent::new(text.clone());
        let again =
            |text: &str, timestamp: &str| json!({ "type": "console", "text": text, "timestamp": timestamp, "seq": 9 });
        assert_eq!(recorded.repeat(&again("a", "t2")), Some((text, 4)));
        assert_eq!(recorded.repeat(&again("b", "t1")), None);
        // Other text, though it has the same members.
        assert_eq!(recorded.repeat(&json!({ "text": "a", "type": "console", "timestamp": "t1", "seq": 3 })), None);
        assert!(recorded.repeat(&again("[redacted]", "t2")).is_some());
    }
}
