//! Fair queue of one lane: sources of writes take turns, so that nobody waits behind the backlog of somebody else.
//!
//! The next turn is that of the source whose last turn is longest ago; one without a known turn goes first. Values with the
//! same key keep their order, whatever their sources: all that are queued at a time wait in the line of the first of them.

use agent_spaces_journal::Claim;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Most sources whose last turns are remembered while they have nothing queued. All are forgotten then, which gives each
/// of them one early turn.
const MAX_REMEMBERED: usize = 1024;

/// Whose turn a write takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// Caller of the run.
    Caller(Arc<str>),
    /// Owner of the document; empty for the operator, and where the owner is not known.
    Documents(Arc<str>),
    /// Claims of runs: their callers are known afterwards.
    Claims,
    /// Signals, requests to cancel and decisions, which name a run or an approval only.
    Signals,
}

impl Source {
    /// Returns the source of writes under a claim.
    pub(crate) fn of(claim: &Claim) -> Source {
        Source::Caller(Arc::clone(&claim.caller))
    }
}

/// Place among all turns: the last turn, then the number of the value that the source came back with.
type Rank = (u64, u64);

/// Values of one source. There is at least one.
struct Line<T> {
    rank: Rank,
    values: VecDeque<Queued<T>>,
}

struct Queued<T> {
    number: u64,
    key: u64,
    value: T,
}

/// Queue whose sources take turns.
pub(crate) struct FairQueue<T> {
    lines: HashMap<Source, Line<T>>,
    /// Sources of all lines, the next first.
    ranks: BTreeMap<Rank, Source>,
    /// Last turns of sources that have nothing queued.
    remembered: HashMap<Source, u64>,
    /// For each key with queued values: the line that they are in, and their number.
    keys: HashMap<u64, (Source, usize)>,
    /// Source that has its turn.
    current: Option<Source>,
    /// Number of turns.
    turns: u64,
    /// Number of values that were ever queued.
    pushed: u64,
}

impl<T> FairQueue<T> {
    pub(crate) fn new() -> FairQueue<T> {
        FairQueue {
            lines: HashMap::new(),
            ranks: BTreeMap::new(),
            remembered: HashMap::new(),
            keys: HashMap::new(),
            current: None,
            turns: 0,
            pushed: 0,
        }
    }

    /// Queues a value.
    pub(crate) fn push(&mut self, source: Source, key: u64, value: T) {
        let number = self.pushed;
        self.pushed += 1;
        let waiting = self.keys.entry(key).or_insert((source, 0));
        waiting.1 += 1;
        let source = &waiting.0;
        let line = self.lines.entry(source.clone()).or_insert_with(|| {
            let rank = (self.remembered.remove(source).unwrap_or(0), number);
            self.ranks.insert(rank, source.clone());
            Line { rank, values: VecDeque::new() }
        });
        line.values.push_back(Queued { number, key, value });
    }

    /// Begins the next turn, and takes its first value.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let (_, source) = self.ranks.pop_first()?;
        self.turns += 1;
        let rank = (self.turns, 0);
        if let Some(line) = self.lines.get_mut(&source) {
            line.rank = rank;
        }
        self.ranks.insert(rank, source.clone());
        self.current = Some(source);
        self.take()
    }

    /// Takes the next value of the source that has its turn, if it is wanted.
    pub(crate) fn pop_if(&mut self, is_wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let line = self.lines.get(self.current.as_ref()?)?;
        let is_next = line.values.front().is_some_and(|queued| is_wanted(&queued.value));
        if is_next { self.take() } else { None }
    }

    /// Takes the first value of the source that has its turn.
    fn take(&mut self) -> Option<T> {
        let source = self.current.as_ref()?;
        let line = self.lines.get_mut(source)?;
        let taken = line.values.pop_front()?;
        if line.values.is_empty() {
            let rank = line.rank;
            self.lines.remove(source);
            self.ranks.remove(&rank);
            if self.remembered.len() >= MAX_REMEMBERED {
                self.remembered.clear();
            }
            self.remembered.insert(source.clone(), rank.0);
        }
        if let Entry::Occupied(mut entry) = self.keys.entry(taken.key) {
            let (_, waiting) = entry.get_mut();
            *waiting -= 1;
            if *waiting == 0 {
                entry.remove();
            }
        }
        Some(taken.value)
    }

    /// Returns the number of values that were ever queued.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// True if none of the first `number` values that were ever queued is in the queue.
    pub(crate) fn has_passed(&self, number: u64) -> bool {
        let mut firsts = self.lines.values().filter_map(|line| line.values.front());
        firsts.all(|first| first.number >= number)
    }
}

#[cfg(test)]
#[path = "fair_queue_tests.rs"]
mod tests;
