//! Answer cache with a time to live, for functions that the policy marks as cacheable (`cache`).

use super::Pipeline;
use agent_spaces_calls::call::{Call, WholeAnswer};
use agent_spaces_calls::context::RunContext;
use agent_spaces_policy::FunctionId;
use agent_spaces_types::caller::Caller;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limits of a space's cache: number of answers, bytes of one answer's JSON, and bytes of all answers with their
/// arguments. An answer beyond these is not cached.
const MAX_ANSWERS: usize = 1_000;
const MAX_BYTES: usize = 64 * 1024;
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Answer cache of one space. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct AnswerCache(Arc<Mutex<CacheEntries>>);

/// Cached answers as JSON text: parsed values would take many times the memory.
#[derive(Debug, Default)]
struct CacheEntries {
    entries: HashMap<Key, CachedAnswer>,
    bytes: usize,
}

/// Cache key. The caller is part of it, so that no answer reaches another caller or other scopes; so is the provider's
/// description, so that a server never gets the answers of another one that had its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    function: FunctionId,
    source: Option<String>,
    caller: Arc<Caller>,
    arguments: String,
}

/// One cached answer.
#[derive(Debug)]
struct CachedAnswer {
    text: String,
    /// The MCP server's complete answer, if the caller asked for it.
    whole: Option<String>,
    expires: Instant,
}

/// Result of a cache lookup.
pub(super) enum Lookup {
    Hit(Value),
    /// Key and time to live for the answer, if the function is cacheable.
    Miss(Option<(Key, Duration)>),
}

/// Looks up the answer to a call.
pub(super) fn lookup(pipeline: &Pipeline, call: &Call, context: &RunContext) -> Lookup {
    let Some(ttl) = pipeline.policy.middleware().cache else { return Lookup::Miss(None) };
    let key = Key {
        function: pipeline.id.clone(),
        source: pipeline.provider.as_ref().map(|provider| provider.description()),
        caller: context.caller.clone(),
        arguments: agent_spaces_approvals::canonical(&call.params),
    };
    let cache = pipeline.rules.answers.entries();
    let known = cache.entries.get(&key).filter(|entry| entry.expires > Instant::now());
    let found = known.and_then(|entry| {
        let value = serde_json::from_str(&entry.text).ok()?;
        let whole: Option<Value> = entry.whole.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Some((value, whole))
    });
    match (found, &call.whole) {
        (Some((value, _)), None) => Lookup::Hit(value),
        // A server's complete answer cannot be rebuilt from its data.
        (Some((value, whole)), Some(slot)) if whole.is_some() || !pipeline.is_server_tool() => {
            slot.put(whole);
            Lookup::Hit(value)
        }
        _ => Lookup::Miss(Some((key, ttl))),
    }
}

/// Answer to insert once it has been checked against its type.
pub(super) struct PendingInsert {
    answers: AnswerCache,
    key: Key,
    ttl: Duration,
    text: String,
    whole: Option<String>,
}

/// Prepares an answer for the cache; `None` if it is not cacheable or too large.
pub(super) fn prepare_insert(
    pipeline: &Pipeline,
    key: Option<(Key, Duration)>,
    value: &Value,
    whole: Option<&WholeAnswer>,
) -> Option<PendingInsert> {
    let (key, ttl) = key?;
    let text = bounded_json(value).filter(|_| key.arguments.len() <= MAX_BYTES)?;
    let whole = whole.and_then(WholeAnswer::get).and_then(|whole| bounded_json(&whole));
    Some(PendingInsert { answers: pipeline.rules.answers.clone(), key, ttl, text, whole })
}

impl PendingInsert {
    /// Inserts the answer into the cache.
    pub(super) fn insert(self) {
        let now = Instant::now();
        let Some(expires) = now.checked_add(self.ttl) else { return };
        self.answers.entries().insert(self.key, CachedAnswer { text: self.text, whole: self.whole, expires }, now);
    }
}

impl AnswerCache {
    fn entries(&self) -> std::sync::MutexGuard<'_, CacheEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheEntries {
    /// Drops expired answers, then inserts this one if the limits allow it.
    fn insert(&mut self, key: Key, answer: CachedAnswer, now: Instant) {
        self.entries.retain(|other, entry| {
            let is_kept = entry.expires > now && *other != key;
            if !is_kept {
                self.bytes -= size(other, entry);
            }
            is_kept
        });
        let bytes = self.bytes + size(&key, &answer);
        if self.entries.len() < MAX_ANSWERS && bytes <= MAX_TOTAL_BYTES {
            self.bytes = bytes;
            self.entries.insert(key, answer);
        }
    }
}

/// Bytes of an entry, without the part that is the same for all.
fn size(key: &Key, entry: &CachedAnswer) -> usize {
    key.arguments.len() + entry.text.len() + entry.whole.as_ref().map_or(0, String::len)
}

/// Returns a value's JSON text, or `None` if it is longer than `MAX_BYTES`.
fn bounded_json(value: &Value) -> Option<String> {
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
    use crate::cache::{
        CacheEntries, CachedAnswer, FunctionId, Key, MAX_ANSWERS, MAX_BYTES, MAX_TOTAL_BYTES, bounded_json,
    };
    use serde_json::json;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const MINUTE: Duration = Duration::from_secs(60);

    fn key(arguments: String) -> Key {
        let function = FunctionId::new("capabilities:desk/desk@1.0.0", "look");
        Key { function, source: None, caller: Arc::default(), arguments }
    }

    #[test]
    fn the_cache_is_bounded_in_bytes_and_drops_expired_answers() {
        let (mut cache, now) = (CacheEntries::default(), Instant::now());
        let insert = |cache: &mut CacheEntries, number: usize, now: Instant| {
            let entry = CachedAnswer { text: "x".repeat(MAX_BYTES), whole: None, expires: now + MINUTE };
            cache.insert(key(format!("{number:05}")), entry, now);
        };
        for number in 0..MAX_ANSWERS {
            insert(&mut cache, number, now);
        }
        let most = MAX_TOTAL_BYTES / (MAX_BYTES + 5);
        assert_eq!((cache.entries.len(), cache.bytes), (most, most * (MAX_BYTES + 5)));
        // Inserting the same key again takes no more room; the next insert drops all expired entries.
        insert(&mut cache, 0, now + MINUTE / 2);
        assert_eq!(cache.entries.len(), most);
        insert(&mut cache, 1, now + MINUTE);
        assert_eq!((cache.entries.len(), cache.bytes), (2, 2 * (MAX_BYTES + 5)));
    }

    #[test]
    fn json_over_the_size_limit_is_not_built() {
        assert_eq!(bounded_json(&json!([1.5, "ü"])).as_deref(), Some("[1.5,\"ü\"]"));
        assert_eq!(bounded_json(&json!("x".repeat(MAX_BYTES - 2))).map(|text| text.len()), Some(MAX_BYTES));
        assert_eq!(bounded_json(&json!("x".repeat(MAX_BYTES - 1))), None);
    }
}
