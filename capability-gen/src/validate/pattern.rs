//! `pattern` and `patternProperties`, in bounded time.
//!
//! A pattern goes to the linear engine where that can take it. Look-around and back-references need the
//! backtracking one, which runs under a small limit first and, only where that is not enough, under a larger
//! one that costs accordingly. A pattern that neither takes (other dialects, a program too large) is not
//! checked and noted: the provider checks it anyway, and a tool is worth more than one of its patterns.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longer ones are not patterns that anybody wrote.
const MAX_PATTERN: usize = 4096;
/// Compiled sizes in bytes, and what a byte of text then costs in fuel. The linear engine falls back from its
/// automaton to simulating it, and then a byte of text costs as much as the program has states.
const SIZES: [(usize, u64); 3] = [(16 << 10, 1), (128 << 10, 8), (1 << 20, 64)];
/// The cache of the automaton.
const DFA_SIZE: usize = 256 << 10;
/// Bytes for all patterns of a schema: some five hundred ordinary ones, or so many that compiling them takes a few
/// tenths of a second.
pub(super) const ROOM: usize = 8 << 20;
/// What one pattern may take.
pub(super) const LARGEST: usize = SIZES[0].0 + SIZES[1].0 + SIZES[2].0;
/// Steps, and what they cost in fuel: enough for any honest text at first, and once more for long ones.
const BACKTRACKS: [(usize, u64); 2] = [(1_000, 100), (100_000, 10_000)];

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    /// As the schema has it.
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
    /// Compiles an ECMA-262 pattern, taking of the room there is for all of a schema's; gives why it is not checked
    /// where it cannot be.
    pub(super) fn new(source: &str, room: &mut usize) -> (Pattern, Option<String>) {
        let (engine, note) = match compile(source, room) {
            Ok(engine) => (engine, None),
            Err(reason) => (Engine::Unchecked, Some(reason)),
        };
        (Pattern { source: source.to_owned(), engine }, note)
    }

    /// Whether it is checked at all.
    pub(super) fn is_checked(&self) -> bool {
        !matches!(self.engine, Engine::Unchecked)
    }

    /// Whether the text has a match; `spend` is told what it costs before it is done. True where unchecked.
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
                // Engines have had patterns that make them panic; that must not end more than this check.
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
    let translated = jsonschema_regex::to_rust_regex(source).map_err(|()| "it is no pattern we know".to_owned())?;
    for (size, cost) in SIZES {
        // Taken whether it fits or not: trying costs as much.
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
    attempts.map(Engine::Backtracking).map_err(|_| "it is no pattern we know".to_owned())
}
