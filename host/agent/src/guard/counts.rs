//! Counts of texts, in bounded time. Conversations grow at their end, so most texts were counted before.

use super::tokenizer::Vocabulary;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// Longest text that is counted as a whole, in bytes: some ten milliseconds. Longer ones are sampled.
const MAX_WHOLE: usize = 256 << 10;

/// Windows of a sample, spread over the text, and bytes of each.
const WINDOWS: usize = 16;
const WINDOW: usize = 8 << 10;

/// Bytes of texts of one request that are counted: some fifty milliseconds. The rest is extrapolated.
const MAX_WORK: usize = 2 << 20;

/// Shorter texts are counted faster than they are looked up.
const MIN_KEPT: usize = 512;

/// Most counts that are kept, some 40 bytes each: more than the messages of the conversations that go on at once.
const MAX_KEPT: usize = 16_384;

/// A text: its vocabulary, hash and length. The hash has a secret key, so nobody can make two texts share a count.
type Key = (Vocabulary, u64, usize);

/// Counts of texts that were seen.
#[derive(Default)]
pub(super) struct Counts {
    hasher: RandomState,
    known: Mutex<HashMap<Key, u64>>,
}

impl Counts {
    /// Tokens of a text of a request; an estimate for a long one, and for those of a request with very much text.
    pub(super) fn of(&self, vocabulary: Vocabulary, text: &str, meter: &Meter) -> u64 {
        // To hash a text of many megabytes takes longer than to sample it.
        let is_kept = (MIN_KEPT..=MAX_WHOLE).contains(&text.len());
        let key = is_kept.then(|| (vocabulary, self.hasher.hash_one(text), text.len()));
        let known = key.and_then(|key| self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied());
        if let Some(count) = known {
            meter.add(0, text.len(), count);
            return count;
        }
        if meter.work.get() >= MAX_WORK {
            return meter.extrapolated(text.len());
        }
        let (work, count) = match text.len() > MAX_WHOLE {
            true => (WINDOWS * WINDOW, sampled(vocabulary, text)),
            false => (text.len(), vocabulary.count(text)),
        };
        meter.add(work, text.len(), count);
        if let Some(key) = key {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_KEPT {
                known.clear();
            }
            known.insert(key, count);
        }
        count
    }
}

/// Running token count of one request.
#[derive(Default)]
pub(super) struct Meter {
    /// Bytes that went through a tokenizer.
    work: Cell<usize>,
    bytes: Cell<usize>,
    tokens: Cell<u64>,
}

impl Meter {
    fn add(&self, work: usize, bytes: usize, tokens: u64) {
        self.work.set(self.work.get().saturating_add(work));
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        self.tokens.set(self.tokens.get().saturating_add(tokens));
    }

    /// Tokens of a text, by those of the texts before it.
    fn extrapolated(&self, bytes: usize) -> u64 {
        share(self.tokens.get(), self.bytes.get(), bytes)
    }
}

/// Tokens of `bytes` bytes, if `of` bytes have this many.
fn share(tokens: u64, of: usize, bytes: usize) -> u64 {
    let tokens = (u128::from(tokens) * bytes as u128).div_ceil(of.max(1) as u128);
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

/// Counts windows of a text and extrapolates.
fn sampled(vocabulary: Vocabulary, text: &str) -> u64 {
    let step = text.len() / WINDOWS;
    let (mut tokens, mut bytes) = (0, 0);
    for window in 0..WINDOWS {
        let from = text.floor_char_boundary(window * step);
        let to = text.floor_char_boundary(from + WINDOW);
        tokens += vocabulary.count(&text[from..to]);
        bytes += to - from;
    }
    share(tokens, bytes, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "{\"id\": 4711, \"name\": \"Grüße aus Köln\", \"tags\": [\"a\", \"b\"]}\n";

    fn count(text: &str) -> u64 {
        Counts::default().of(Vocabulary::O200k, text, &Meter::default())
    }

    #[test]
    fn a_long_text_is_estimated_from_a_sample() {
        let text = LINE.repeat(20_000);
        assert!(text.len() > 4 * MAX_WHOLE);
        let (exact, estimated) = (Vocabulary::O200k.count(LINE) * 20_000, count(&text));
        assert!(estimated.abs_diff(exact) < exact / 50, "{estimated} for {exact}");
    }

    #[test]
    fn all_parts_of_a_long_text_count() {
        // Spaces are many to a token, letters of other scripts are not.
        let estimated = count(&format!("{}{}", " ".repeat(2 << 20), "日本語のテキスト".repeat(40_000)));
        assert!(estimated > 100_000, "{estimated}");
    }

    #[test]
    fn windows_end_between_characters() {
        for filler in 0..4 {
            let text = format!("{}{}", "a".repeat(filler), "😀".repeat(MAX_WHOLE / 4 + 10));
            assert!(sampled(Vocabulary::Cl100k, &text) > 0);
        }
    }

    #[test]
    fn a_count_is_kept_by_vocabulary_and_text() {
        let (counts, meter) = (Counts::default(), Meter::default());
        let text = "Donaudampfschifffahrt ".repeat(100);
        let [new, old] = [Vocabulary::O200k, Vocabulary::Cl100k].map(|vocabulary| counts.of(vocabulary, &text, &meter));
        assert_eq!((new, old), (Vocabulary::O200k.count(&text), Vocabulary::Cl100k.count(&text)));
        let work = meter.work.get();
        assert_eq!(counts.of(Vocabulary::O200k, &text, &meter), new);
        // The second time it took no work, and is part of the request nevertheless.
        assert_eq!((meter.work.get(), meter.bytes.get()), (work, 3 * text.len()));
        assert_eq!(counts.known.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_request_of_many_texts_takes_bounded_work() {
        let (counts, meter) = (Counts::default(), Meter::default());
        let texts: Vec<_> = (0..3_000).map(|number| format!("{number}: {}", LINE.repeat(20))).collect();
        assert!(texts.iter().map(String::len).sum::<usize>() > 3 * MAX_WORK / 2);
        let all: u64 = texts.iter().map(|text| counts.of(Vocabulary::O200k, text, &meter)).sum();
        assert!(meter.work.get() < MAX_WORK + 2_000, "{}", meter.work.get());
        let exact = Vocabulary::O200k.count(LINE) * 20 * 3_000;
        assert!(all.abs_diff(exact) < exact / 50, "{all} for {exact}");
    }
}
