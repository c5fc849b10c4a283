//! The entry of a call in the accounts, written however the call ends.

use crate::accounting::Entry;
use crate::context::Context;
use crate::error::CallError;
use serde_json::{Map, Value};
use std::time::{Instant, SystemTime};

/// A call that is to be written down; nothing where nobody keeps accounts.
pub(crate) struct Recorded(Option<Box<Running>>);

struct Running {
    context: Context,
    begun: Instant,
    entry: Option<Entry>,
}

impl Recorded {
    pub(crate) fn begin(context: &Context, server: &str, tool: &str, arguments: &Map<String, Value>) -> Recorded {
        if !context.accounting.is_kept() {
            return Recorded(None);
        }
        let entry = Entry {
            began: SystemTime::now(),
            latency: Default::default(),
            characters_in: serde_json::to_string(arguments).unwrap_or_default().chars().count(),
            characters_out: 0,
            server: server.to_owned(),
            command: tool.to_owned(),
            // What is said of a call that nobody waited for.
            error: Some("cancelled: nobody waited for the answer".into()),
        };
        Recorded(Some(Box::new(Running { context: context.clone(), begun: Instant::now(), entry: Some(entry) })))
    }

    pub(crate) fn end(mut self, answer: &Result<Value, CallError>) {
        let Some(entry) = self.0.as_mut().and_then(|running| running.entry.as_mut()) else { return };
        entry.characters_out = match answer {
            Ok(Value::String(text)) => text.chars().count(),
            Ok(value) => value.to_string().chars().count(),
            Err(_) => 0,
        };
        entry.error = answer.as_ref().err().map(ToString::to_string);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut entry) = self.entry.take() {
            entry.latency = self.begun.elapsed();
            self.context.accounting.record(entry);
        }
    }
}
