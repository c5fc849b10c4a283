//! Answers of earlier calls, for functions whose operator says that they stay the same for a while.

use super::Pipeline;
use crate::handlers::{Call, WholeAnswer};
use crate::run::{Caller, RunContext};
use agent_spaces_policy::FunctionId;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most answers that a space keeps, the longest text of one, and of all with what was asked: what is more is asked for
/// again.
const MAX_ANSWERS: usize = 1_000;
const MAX_BYTES: usize = 64 * 1024;
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// The answers of one space; clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Arc<Mutex<Book>>);

/// Answers as text: as values they would take many times the room.
#[derive(Debug, Default)]
struct Book {
    kept: HashMap<Key, Kept>,
    bytes: usize,
}

/// Function, what answers it, caller and arguments: an answer never goes from one caller to another, nor to one with other
/// scopes; and that of a server is not given for another that took its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    function: FunctionId,
    source: Option<String>,
    caller: Arc<Caller>,
    arguments: String,
}

#[derive(Debug)]
struct Kept {
    text: String,
    /// What an MCP server answered as a whole, where somebody asked for that.
    whole: Option<String>,
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
        function: pipeline.id.clone(),
        source: pipeline.answering.as_ref().map(|provider| provider.description()),
        caller: context.caller.clone(),
        arguments: agent_spaces_approvals::canonical(&call.params),
    };
    let book = pipeline.rules.answers.book();
    let known = book.kept.get(&key).filter(|kept| kept.until > Instant::now());
    let found = known.and_then(|kept| {
        let value = serde_json::from_str(&kept.text).ok()?;
        let whole: Option<Value> = kept.whole.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Some((value, whole))
    });
    match (found, &call.whole) {
        (Some((value, _)), None) => Found::Answer(value),
        // A server's whole answer cannot be made of its data.
        (Some((value, whole)), Some(slot)) if whole.is_some() || !pipeline.is_server_tool() => {
            slot.put(whole);
            Found::Answer(value)
        }
        _ => Found::Nothing(Some((key, ttl))),
    }
}

/// An answer that is to be kept once it is known to fit its type.
pub(super) struct Keeping {
    answers: Answers,
    key: Key,
    ttl: Duration,
    text: String,
    whole: Option<String>,
}

pub(super) fn prepare(
    pipeline: &Pipeline,
    key: Option<(Key, Duration)>,
    value: &Value,
    whole: Option<&WholeAnswer>,
) -> Option<Keeping> {
    let (key, ttl) = key?;
    let text = short(value).filter(|_| key.arguments.len() <= MAX_BYTES)?;
    let whole = whole.and_then(WholeAnswer::get).and_then(|whole| short(&whole));
    Some(Keeping { answers: pipeline.rules.answers.clone(), key, ttl, text, whole })
}

impl Keeping {
    pub(super) fn keep(self) {
        let now = Instant::now();
        let Some(until) = now.checked_add(self.ttl) else { return };
        self.answers.book().keep(self.key, Kept { text: self.text, whole: self.whole, until }, now);
    }
}

impl Answers {
    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Keeps an answer where there is room. What is asked for often will be kept when others have had their time.
    fn keep(&mut self, key: Key, answer: Kept, now: Instant) {
        self.kept.retain(|other, kept| {
            let is_kept = kept.until > now && *other != key;
            if !is_kept {
                self.bytes -= size(other, kept);
            }
            is_kept
        });
        let bytes = self.bytes + size(&key, &answer);
        if self.kept.len() < MAX_ANSWERS && bytes <= MAX_TOTAL_BYTES {
            self.bytes = bytes;
            self.kept.insert(key, answer);
        }
    }
}

/// What an answer takes, but for what all take alike.
fn size(key: &Key, kept: &Kept) -> usize {
    key.arguments.len() + kept.text.len() + kept.whole.as_ref().map_or(0, String::len)
}

/// The text of a value that is not too long.
fn short(value: &Value) -> Option<String> {
    struct Bounded(Vec<u8>);
    impl std::io::Write for Bounded {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0.len() + bytes.len() > MAX_BYTES {
                return Err(std::io::ErrorKind::WriteZero.into());
            }
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut text = Bounded(Vec::new());
    serde_json::to_writer(&mut text, value).ok()?;
    String::from_utf8(text.0).ok()
}

#[cfg(test)]
mod tests {
    use super::{Book, FunctionId, Kept, Key, MAX_ANSWERS, MAX_BYTES, MAX_TOTAL_BYTES, short};
    use serde_json::json;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const MINUTE: Duration = Duration::from_secs(60);

    fn key(arguments: String) -> Key {
        let function = FunctionId::new("capabilities:desk/desk@1.0.0", "look");
        Key { function, source: None, caller: Arc::default(), arguments }
    }

    #[test]
    fn a_space_keeps_so_many_bytes_until_their_time_is_over() {
        let (mut book, now) = (Book::default(), Instant::now());
        let keep = |book: &mut Book, number: usize, now: Instant| {
            let kept = Kept { text: "x".repeat(MAX_BYTES), whole: None, until: now + MINUTE };
            book.keep(key(format!("{number:05}")), kept, now);
        };
        for number in 0..MAX_ANSWERS {
            keep(&mut book, number, now);
        }
        let most = MAX_TOTAL_BYTES / (MAX_BYTES + 5);
        assert_eq!((book.kept.len(), book.bytes), (most, most * (MAX_BYTES + 5)));
        // The same again takes no more room; and the next one makes room of all that are old.
        keep(&mut book, 0, now + MINUTE / 2);
        assert_eq!(book.kept.len(), most);
        keep(&mut book, 1, now + MINUTE);
        assert_eq!((book.kept.len(), book.bytes), (2, 2 * (MAX_BYTES + 5)));
    }

    #[test]
    fn a_text_that_is_too_long_is_not_made() {
        assert_eq!(short(&json!([1.5, "ü"])).as_deref(), Some("[1.5,\"ü\"]"));
        assert_eq!(short(&json!("x".repeat(MAX_BYTES - 2))).map(|text| text.len()), Some(MAX_BYTES));
        assert_eq!(short(&json!("x".repeat(MAX_BYTES - 1))), None);
    }
}
