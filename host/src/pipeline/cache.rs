//! Answers of earlier calls, for functions whose operator says that they stay the same for a while.

use super::Pipeline;
use crate::handlers::Call;
use crate::run::RunContext;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most answers that a space keeps, and the longest text of one: what is larger is asked for again.
const MAX_ANSWERS: usize = 1_000;
const MAX_BYTES: usize = 64 * 1024;

/// The answers of one space; clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Arc<Mutex<HashMap<Key, Kept>>>);

/// Function, caller and arguments: an answer never goes from one caller to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    interface: Arc<str>,
    function: Arc<str>,
    caller: Option<String>,
    arguments: String,
}

#[derive(Debug)]
struct Kept {
    value: Value,
    until: Instant,
}

/// What there is for a call.
pub(super) enum Found {
    Answer(Value),
    /// Nothing; where to keep the answer, if it is to be kept.
    Nothing(Option<(Key, Duration)>),
}

pub(super) fn find(pipeline: &Pipeline, call: &Call, context: &RunContext) -> Found {
    let Some(ttl) = pipeline.policy.middleware().cache else { return Found::Nothing(None) };
    let key = Key {
        interface: call.interface.clone(),
        function: call.function.clone(),
        caller: context.caller.name.clone(),
        arguments: agent_spaces_approvals::canonical(&call.params),
    };
    let mut answers = pipeline.rules.answers.0.lock().unwrap_or_else(PoisonError::into_inner);
    match answers.get(&key) {
        Some(kept) if kept.until > Instant::now() => Found::Answer(kept.value.clone()),
        _ => {
            answers.remove(&key);
            Found::Nothing(Some((key, ttl)))
        }
    }
}

/// An answer that is to be kept once it is known to fit its type.
pub(super) struct Keeping {
    answers: Answers,
    key: Key,
    ttl: Duration,
    value: Value,
}

pub(super) fn prepare(pipeline: &Pipeline, key: Option<(Key, Duration)>, value: &Value) -> Option<Keeping> {
    let (key, ttl) = key?;
    let is_kept = key.arguments.len() <= MAX_BYTES && is_short(value);
    is_kept.then(|| Keeping { answers: pipeline.rules.answers.clone(), key, ttl, value: value.clone() })
}

impl Keeping {
    pub(super) fn keep(self) {
        let now = Instant::now();
        let Some(until) = now.checked_add(self.ttl) else { return };
        let mut answers = self.answers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= MAX_ANSWERS {
            answers.retain(|_, kept| kept.until > now);
        }
        // What is asked for often will be kept when others have had their time.
        if answers.len() < MAX_ANSWERS {
            answers.insert(self.key, Kept { value: self.value, until });
        }
    }
}

fn is_short(value: &Value) -> bool {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::WriteZero)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Counter(MAX_BYTES), value).is_ok()
}
