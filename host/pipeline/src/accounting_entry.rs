//! Usage log entry of a call in progress, written on drop however the call ends.

use crate::accounting::{Accounting, Entry, Provider};
use agent_spaces_calls::call::Call;
use agent_spaces_policy::FunctionId;
use agent_spaces_types::capability_error::CapabilityError;
use serde_json::Value;
use std::time::{Instant, SystemTime};

/// Entry of a call in progress; `None` if the usage log is disabled.
pub(super) struct OpenEntry(Option<Box<Unwritten>>);

/// Entry that is written on drop.
struct Unwritten {
    accounting: Accounting,
    begun: Instant,
    entry: Option<Entry>,
}

/// Starts the entry of a call.
pub(super) fn begin(accounting: &Accounting, id: &FunctionId, call: &Call, is_server: bool) -> OpenEntry {
    if !accounting.is_enabled() {
        return OpenEntry(None);
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
        // A server's tool is identified by its server and its name there.
        function_id: (!is_server).then(|| id.clone()),
        caller: call.caller.name.clone(),
        // Stays if the call is dropped before its end.
        error: Some("cancelled: the caller stopped waiting".into()),
    };
    OpenEntry(Some(Box::new(Unwritten { accounting: accounting.clone(), begun: Instant::now(), entry: Some(entry) })))
}

impl OpenEntry {
    /// Sets the length of the answer.
    pub(super) fn measure(&mut self, answer: &Value) {
        let Some(entry) = self.0.as_mut().and_then(|unwritten| unwritten.entry.as_mut()) else { return };
        entry.characters_out = match answer {
            Value::String(text) => text.chars().count(),
            value => characters(value),
        };
    }

    /// Writes the line of a failed attempt and starts that of its retry.
    pub(super) fn write_attempt(&mut self, error: &CapabilityError) {
        let Some(unwritten) = &mut self.0 else { return };
        let Some(entry) = &mut unwritten.entry else { return };
        let error = Some(error.message.clone());
        unwritten.accounting.record(Entry { latency: unwritten.begun.elapsed(), error, ..entry.clone() });
        (entry.began, unwritten.begun) = (SystemTime::now(), Instant::now());
    }

    /// Writes the entry with the call's outcome.
    pub(super) fn end(mut self, error: Option<&CapabilityError>) {
        let Some(entry) = self.0.as_mut().and_then(|unwritten| unwritten.entry.as_mut()) else { return };
        entry.error = error.map(|error| error.message.clone());
        if error.is_some() {
            entry.characters_out = 0;
        }
    }
}

/// Counts the characters of a value's JSON text without building it.
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

impl Drop for Unwritten {
    fn drop(&mut self) {
        if let Some(mut entry) = self.entry.take() {
            entry.latency = self.begun.elapsed();
            self.accounting.record(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::accounting_entry::characters;
    use serde_json::json;

    #[test]
    fn characters_are_those_of_the_text() {
        for value in [json!(null), json!({ "ü": ["é\n", 1.5, "日本", "😀"] }), json!("")] {
            assert_eq!(characters(&value), value.to_string().chars().count(), "{value}");
        }
    }
}
