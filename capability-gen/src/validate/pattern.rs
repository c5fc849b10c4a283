//! Regular expressions of `pattern` and `patternProperties`, in bounded time.
//!
//! Patterns run on the linear engine if it supports them. Look-around and back-references need the backtracking engine,
//! which runs with a small limit first and, only if that is not enough, with a larger one that costs accordingly. A
//! pattern that neither supports (other dialects, too large a program) is not checked, with a note: the provider checks
//! it anyway, and refusing the whole tool would be worse.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum length of a pattern.
const MAX_PATTERN: usize = 4096;
/// Compiled sizes in bytes, and the fuel per byte of text. The linear engine may fall back from its DFA to simulating
/// the NFA, where the cost of a byte is the number of states.
const SIZES: [(usize, u64); 3] = [(16 << 10, 1), (128 << 10, 8), (1 << 20, 64)];
/// Cache size of the DFA.
const DFA_SIZE: usize = 256 << 10;
/// Bytes for all patterns of a schema: some five hundred ordinary ones, or a few tenths of a second of compilation.
pub(super) const ROOM: usize = 8 << 20;
/// Maximum bytes of one pattern.
pub(super) const LARGEST: usize = SIZES[0].0 + SIZES[1].0 + SIZES[2].0;
/// Backtracking steps and their fuel: first enough for ordinary text, then a second attempt for long text.
const BACKTRACKS: [(usize, u64); 2] = [(1_000, 100), (100_000, 10_000)];

/// Compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Pattern in the schema.
    pub(super) source: String,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Linear { regex: regex::Regex, cost: u64 },
    Backtracking(Vec<(fancy_regex::Regex, u64)>),
    Unchecked,
}

impl Pattern {
    /// Compiles an ECMA-262 pattern, charged to the `room` of the schema. Returns the reason if it cannot be checked.
    pub(super) fn new(source: &str, room: &mut usize) -> (Pattern, Option<String>) {
        let (engine, note) = match compile(source, room) {
            Ok(engine) => (engine, None),
            Err(reason) => (Engine::Unchecked, Some(reason)),
        };
        (Pattern { source: source.to_owned(), engine }, note)
    }

    /// Returns true if it can be checked.
    pub(super) fn is_checked(&self) -> bool {
        !matches!(self.engine, Engine::Unchecked)
    }

    /// Returns true if the text matches, or if the pattern cannot be checked. `spend` is called with the cost
    /// beforehand.
    pub(super) fn matches<E>(
        &self,
        text: &str,
        mut spend: impl FnMut(u64) -> Result<(), E>,
        exhausted: impl FnOnce() -> E,
    ) -> Result<bool, E> {
        match &self.engine {
            Engine::Unchecked => Ok(true),
            Engine::Linear { regex, cost } => {
                spend(1 + text.len() as u64 * cost / 4)?;
                // Some patterns made engines panic; a panic must end only this check.
                catch_unwind(AssertUnwindSafe(|| regex.is_match(text))).map_err(|_| exhausted())
            }
            Engine::Backtracking(attempts) => {
                for (regex, cost) in attempts {
                    spend(cost + text.len() as u64)?;
                    if let Ok(Ok(is_match)) = catch_unwind(AssertUnwindSafe(|| regex.is_match(text))) {
                        return Ok(is_match);
                    }
                }
                Err(exhausted())
            }
        }
    }
}

fn compile(source: &str, room: &mut usize) -> Result<Engine, String> {
    if source.len() > MAX_PATTERN {
        return Err(format!("it is longer than {MAX_PATTERN} bytes"));
    }
    let translated = jsonschema_regex::to_rust_regex(source).map_err(|()| "its syntax is not supported".to_owned())?;
    for (size, cost) in SIZES {
        // Charged even if it does not fit, since the attempt costs as much.
        *room = room.checked_sub(size).ok_or("the schema has too many patterns")?;
        let built = regex::RegexBuilder::new(&translated).size_limit(size).dfa_size_limit(DFA_SIZE).build();
        match built {
            Ok(regex) => return Ok(Engine::Linear { regex, cost }),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(_) => return backtracking(&translated),
        }
    }
    Err("its compiled form is too large".to_owned())
}

fn backtracking(translated: &str) -> Result<Engine, String> {
    let attempts = BACKTRACKS.iter().map(|(steps, cost)| {
        fancy_regex::RegexBuilder::new(translated)
            .backtrack_limit(*steps)
            .delegate_size_limit(SIZES[1].0)
            .delegate_dfa_size_limit(DFA_SIZE)
            .build()
            .map(|regex| (regex, *cost))
    });
    let attempts: Result<Vec<_>, _> = attempts.collect();
    attempts.map(Engine::Backtracking).map_err(|_| "its syntax is not supported".to_owned())
}
