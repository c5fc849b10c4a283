//! Answer cache with a time to live, for functions that the policy marks as cacheable (`cache`).

use super::Pipeline;
use agent_spaces_calls::call::{Call, WholeAnswer};
use agent_spaces_calls::context::RunContext;
use agent_spaces_policy::FunctionId;
use agent_spaces_types::caller::Caller;
use moka::Expiry;
use moka::sync::Cache;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Limits of a space's cache: number of answers, bytes of one answer's JSON, and bytes of all answers with their
/// arguments. A larger answer is not cached; beyond the others, rarely used answers are evicted. Eviction happens in
/// batches, so up to 64 answers more may be held for a moment.
const MAX_ANSWERS: usize = 1_000;
const MAX_BYTES: usize = 64 * 1024;
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Minimum weight of an answer, which bounds their number: it also stands for the memory that each takes besides its
/// text.
const MIN_WEIGHT: usize = MAX_TOTAL_BYTES / MAX_ANSWERS;

/// Answer cache of one space. Clones share it.
#[derive(Clone, Debug)]
pub struct AnswerCache(Cache<Key, Arc<CachedAnswer>>);

impl Default for AnswerCache {
    fn default() -> AnswerCache {
        let cache = Cache::builder().max_capacity(MAX_TOTAL_BYTES as u64).weigher(weight).expire_after(TimeToLive);
        AnswerCache(cache.build())
    }
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

/// One cached answer as JSON text: a parsed value would take many times the memory.
#[derive(Debug)]
struct CachedAnswer {
    text: String,
    /// The MCP server's complete answer, if the caller asked for it.
    whole: Option<String>,
    ttl: Duration,
}

/// Expiry of each answer after its own time to live. Inserting an answer again restarts it, reading does not.
struct TimeToLive;

impl Expiry<Key, Arc<CachedAnswer>> for TimeToLive {
    fn expire_after_create(&self, _: &Key, answer: &Arc<CachedAnswer>, _: Instant) -> Option<Duration> {
        Some(answer.ttl)
    }

    fn expire_after_update(
        &self,
        _: &Key,
        answer: &Arc<CachedAnswer>,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(answer.ttl)
    }
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
    let found = pipeline.rules.answers.0.get(&key).and_then(|entry| {
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
        let answer = CachedAnswer { text: self.text, whole: self.whole, ttl: self.ttl };
        self.answers.0.insert(self.key, Arc::new(answer));
    }
}

/// Returns the weight of an entry: the bytes of its texts, at least [`MIN_WEIGHT`].
fn weight(key: &Key, answer: &Arc<CachedAnswer>) -> u32 {
    let bytes = key.arguments.len() + answer.text.len() + answer.whole.as_ref().map_or(0, String::len);
    u32::try_from(bytes.max(MIN_WEIGHT)).unwrap_or(u32::MAX)
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
        AnswerCache, CachedAnswer, FunctionId, Key, MAX_ANSWERS, MAX_BYTES, MAX_TOTAL_BYTES, bounded_json,
    };
    use serde_json::json;
    use std::sync::Arc;
    use std::time::Duration;

    const MINUTE: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    fn key(number: usize) -> Key {
        let function = FunctionId::new("capabilities:desk/desk@1.0.0", "look");
        Key { function, source: None, caller: Arc::default(), arguments: format!("{number:05}") }
    }

    fn insert(cache: &AnswerCache, number: usize, bytes: usize, ttl: Duration) {
        cache.0.insert(key(number), Arc::new(CachedAnswer { text: "x".repeat(bytes), whole: None, ttl }));
    }

    fn count(cache: &AnswerCache) -> usize {
        cache.0.run_pending_tasks();
        cache.0.entry_count() as usize
    }

    #[test]
    fn the_cache_is_bounded_in_bytes_and_in_answers() {
        for (bytes, most) in [(1, MAX_ANSWERS), (MAX_BYTES, MAX_TOTAL_BYTES / (MAX_BYTES + 5))] {
            let cache = AnswerCache::default();
            for number in 0..2 * most {
                insert(&cache, number, bytes, MINUTE);
            }
            assert_eq!(count(&cache), most, "{bytes}");
            assert!(cache.0.weighted_size() <= MAX_TOTAL_BYTES as u64, "{bytes}");
        }
    }

    #[test]
    fn the_same_call_takes_no_more_room() {
        let cache = AnswerCache::default();
        (0..3).for_each(|_| insert(&cache, 0, MAX_BYTES, MINUTE));
        assert_eq!((count(&cache), cache.0.weighted_size()), (1, MAX_BYTES as u64 + 5));
    }

    #[test]
    fn each_answer_expires_after_its_own_time() {
        let cache = AnswerCache::default();
        insert(&cache, 0, 1, SHORT);
        insert(&cache, 1, 1, MINUTE);
        // Inserted again, with another time.
        insert(&cache, 2, 1, SHORT);
        insert(&cache, 2, 1, MINUTE);
        insert(&cache, 3, 1, MINUTE);
        insert(&cache, 3, 1, SHORT);
        std::thread::sleep(2 * SHORT);
        let is_known = |number| cache.0.get(&key(number)).is_some();
        assert_eq!([0, 1, 2, 3].map(is_known), [false, true, true, false]);
    }

    #[test]
    fn json_over_the_size_limit_is_not_built() {
        assert_eq!(bounded_json(&json!([1.5, "ü"])).as_deref(), Some("[1.5,\"ü\"]"));
        assert_eq!(bounded_json(&json!("x".repeat(MAX_BYTES - 2))).map(|text| text.len()), Some(MAX_BYTES));
        assert_eq!(bounded_json(&json!("x".repeat(MAX_BYTES - 1))), None);
    }
}
