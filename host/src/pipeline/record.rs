//! The entry of a call in the accounts, written however the call ends.

use crate::accounting::{Accounting, Entry, Provider};
use crate::handlers::{Call, CapabilityError};
use serde_json::Value;
use std::time::{Instant, SystemTime};

/// A call that is to be written down; nothing where nobody keeps accounts.
pub(super) struct Recorded(Option<Box<Running>>);

struct Running {
    accounting: Accounting,
    begun: Instant,
    entry: Option<Entry>,
}

pub(super) fn begin(accounting: &Accounting, call: &Call, is_server: bool) -> Recorded {
    if !accounting.is_kept() {
        return Recorded(None);
    }
    let entry = Entry {
        began: SystemTime::now(),
        latency: Default::default(),
        characters_in: call.params.to_string().chars().count(),
        characters_out: 0,
        provider: match is_server {
            true => Provider::Server(call.capability.to_string()),
            false => Provider::Capability(call.capability.to_string()),
        },
        command: call.source_name.to_string(),
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
            value => value.to_string().chars().count(),
        };
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

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut entry) = self.entry.take() {
            entry.latency = self.begun.elapsed();
            self.accounting.record(entry);
        }
    }
}
