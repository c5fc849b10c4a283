//! The entry of a call in the accounts, written however the call ends.

use crate::accounting::{Accounting, Entry, Provider};
use crate::handlers::{Call, CapabilityError};
use agent_spaces_policy::FunctionId;
use serde_json::Value;
use std::time::{Instant, SystemTime};

/// A call that is to be written down; nothing where nobody keeps accounts.
pub(super) struct Recorded(Option<Box<Running>>);

struct Running {
    accounting: Accounting,
    begun: Instant,
    entry: Option<Entry>,
}

pub(super) fn begin(accounting: &Accounting, id: &FunctionId, call: &Call, is_server: bool) -> Recorded {
    if !accounting.is_kept() {
        return Recorded(None);
    }
    let entry = Entry {
        began: SystemTime::now(),
        latency: Default::default(),
        characters_in: characters(&call.params),
        characters_out: 0,
        provider: match is_server {
            true => Provider::Server(call.capability.to_string()),
            false => Provider::Capability(call.capability.to_string()),
        },
        command: call.source_name.to_string(),
        // A server's tool is known by its server and its name there.
        function_id: (!is_server).then(|| id.clone()),
        caller: call.caller.name.clone(),
        // What is said of a call that nobody waited for.
        error: Some("cancelled: nobody waited for the answer".into()),
    };
    Recorded(Some(Box::new(Running { accounting: accounting.clone(), begun: Instant::now(), entry: Some(entry) })))
}

impl Recorded {
    /// Takes note of how long the answer is, whatever becomes of it.
    pub(super) fn measure(&mut self, answer: &Value) {
        let Some(entry) = self.0.as_mut().and_then(|running| running.entry.as_mut()) else { return };
        entry.characters_out = match answer {
            Value::String(text) => text.chars().count(),
            value => characters(value),
        };
    }

    /// Writes down why the call failed, and begins the line of its repetition.
    pub(super) fn repeat(&mut self, error: &CapabilityError) {
        let Some(running) = &mut self.0 else { return };
        let Some(entry) = &mut running.entry else { return };
        let error = Some(error.message.clone());
        running.accounting.record(Entry { latency: running.begun.elapsed(), error, ..entry.clone() });
        (entry.began, running.begun) = (SystemTime::now(), Instant::now());
    }

    /// Writes down how the call ended.
    pub(super) fn end(mut self, error: Option<&CapabilityError>) {
        let Some(entry) = self.0.as_mut().and_then(|running| running.entry.as_mut()) else { return };
        entry.error = error.map(|error| error.message.clone());
        if error.is_some() {
            entry.characters_out = 0;
        }
    }
}

/// How many characters a value's JSON text has, without the text.
fn characters(value: &Value) -> usize {
    struct Counted(usize);
    impl std::io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // A character of UTF-8 has one byte that does not continue another.
            self.0 += bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // Counting never fails.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut entry) = self.entry.take() {
            entry.latency = self.begun.elapsed();
            self.accounting.record(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::characters;
    use serde_json::json;

    #[test]
    fn characters_are_those_of_the_text() {
        for value in [json!(null), json!({ "ü": ["é\n", 1.5, "日本", "😀"] }), json!("")] {
            assert_eq!(characters(&value), value.to_string().chars().count(), "{value}");
        }
    }
}
