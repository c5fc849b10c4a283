//! Fair queue: sources of statements take turns, so that nobody waits behind the backlog of somebody else.
//!
//! The next turn is that of the source whose last turn is longest ago; one without a known turn goes first. Values with the
//! same key keep their order, whatever their sources, and one of them at a time is worked on: all that are queued at a time
//! wait in the line of the first of them. Keys of a line take turns, too.

use agent_spaces_journal::{Claim, tenant};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// Most sources whose last turns are remembered while they have nothing queued. All are forgotten then, which gives each
/// of them one early turn.
const MAX_REMEMBERED: usize = 1024;

/// Source of a statement, whose turn it takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// Tenant that is worked for.
    Tenant(Arc<str>),
    /// Caller of the run, where the tenant is not known.
    Caller(Arc<str>),
    /// Owner of the document; empty for the operator, and where the owner is not known.
    Documents(Arc<str>),
    /// Claims of runs: their callers are known afterwards.
    Claims,
    /// Signals, requests to cancel and decisions, which name a run or an approval only.
    Signals,
    /// Reads for nobody in particular.
    Reads,
}

impl Source {
    /// Returns the tenant that this thread works for, or else this source.
    pub(crate) fn now_or(other: Source) -> Source {
        tenant::current().map_or(other, Source::Tenant)
    }

    /// Returns the source of writes under a claim.
    pub(crate) fn of(claim: &Claim) -> Source {
        Source::now_or(Source::Caller(Arc::clone(&claim.caller)))
    }
}

/// Place among all turns: the last turn, then the number of the value that the source came back with.
type Rank = (u64, u64);

/// Keys of one source.
struct Line {
    rank: Rank,
    /// Those with values that nobody works on, the next first.
    ready: VecDeque<u64>,
    /// Number of those that somebody works on.
    busy: usize,
}

/// Values of one key.
struct Key<T> {
    /// None, while the last of them is worked on.
    values: VecDeque<Queued<T>>,
}

struct Queued<T> {
    number: u64,
    since: Instant,
    /// It waits in the line of another one, if a value with its key was there before.
    source: Source,
    value: T,
}

/// Key that somebody works on, and its values: their numbers and sources.
#[derive(Debug)]
pub(crate) struct Taken {
    key: u64,
    /// Source whose turn it is.
    source: Source,
    values: Vec<(u64, Source)>,
    permit: Permit,
}

/// Value that waits.
pub(crate) struct Waiting<'a, T> {
    pub(crate) value: &'a T,
    /// Number of those that were queued before.
    pub(crate) number: u64,
    pub(crate) since: Instant,
}

/// Values of a source that may be taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    Nothing,
    /// Values that need not rest.
    Small,
    All,
}

/// Keys of a source that are looked at for a value that need not rest.
const MAX_LOOKED_AT: usize = 64;

/// Queue whose sources take turns.
pub(crate) struct FairQueue<T> {
    lines: HashMap<Source, Line>,
    /// Sources with ready keys, the next first.
    ranks: BTreeMap<Rank, Source>,
    /// Last turns of sources that have nothing queued.
    remembered: HashMap<Source, u64>,
    keys: HashMap<u64, Key<T>>,
    /// Numbers of the values that are queued or worked on.
    left: BTreeSet<u64>,
    /// Number of turns.
    turns: u64,
    /// Number of values that were ever queued.
    pushed: u64,
}

impl Taken {
    /// Returns the source whose turn it is.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the permit that its source had.
    pub(crate) fn permit(&self) -> Permit {
        self.permit
    }

    /// Returns the sources of its values.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.values.iter().map(|(_, source)| source)
    }
}

impl<T> FairQueue<T> {
    pub(crate) fn new() -> FairQueue<T> {
        FairQueue {
            lines: HashMap::new(),
            ranks: BTreeMap::new(),
            remembered: HashMap::new(),
            keys: HashMap::new(),
            left: BTreeSet::new(),
            turns: 0,
            pushed: 0,
        }
    }

    /// Queues a value.
    pub(crate) fn push(&mut self, source: Source, key: u64, value: T) {
        let number = self.pushed;
        self.pushed += 1;
        self.left.insert(number);
        let queued = Queued { number, since: Instant::now(), source: source.clone(), value };
        if let Some(known) = self.keys.get_mut(&key) {
            // It is ready already, or will be when the value before is done.
            return known.values.push_back(queued);
        }
        self.keys.insert(key, Key { values: VecDeque::from([queued]) });
        self.make_ready(source, key, number);
    }

    /// Puts a key at the end of the line of its source.
    fn make_ready(&mut self, source: Source, key: u64, number: u64) {
        let last = self.remembered.remove(&source).unwrap_or(0);
        let line = self.lines.entry(source.clone());
        let line = line.or_insert_with(|| Line { rank: (last, number), ready: VecDeque::new(), busy: 0 });
        if line.ready.is_empty() {
            line.rank.1 = number;
            self.ranks.insert(line.rank, source);
        }
        line.ready.push_back(key);
    }

    /// Begins the next turn among sources that may take one, and takes its first value that it may have. `permit` gets a
    /// source and how many of its keys are worked on. Tell [`done`](FairQueue::done) afterwards.
    pub(crate) fn take(
        &mut self,
        permit: impl Fn(&Source, usize) -> Permit,
        needs_no_rest: impl Fn(Waiting<'_, T>) -> bool,
    ) -> Option<(Taken, T)> {
        let may_pass = |key: &u64| {
            let first = self.keys.get(key).and_then(|known| known.values.front());
            first.is_some_and(|Queued { value, number, since, .. }| {
                needs_no_rest(Waiting { value, number: *number, since: *since })
            })
        };
        let place = |source: &Source| {
            let line = self.lines.get(source)?;
            let permit = permit(source, line.busy);
            let place = match permit {
                Permit::Nothing => None,
                Permit::Small => line.ready.iter().take(MAX_LOOKED_AT).position(may_pass),
                Permit::All => Some(0),
            };
            Some((permit, place?))
        };
        let (rank, source, (permit, place)) =
            self.ranks.iter().find_map(|(rank, source)| Some((*rank, source.clone(), place(source)?)))?;
        self.ranks.remove(&rank);
        self.turns += 1;
        let line = self.lines.get_mut(&source)?;
        let key = line.ready.remove(place)?;
        (line.rank, line.busy) = ((self.turns, 0), line.busy + 1);
        if !line.ready.is_empty() {
            self.ranks.insert(line.rank, source.clone());
        }
        let known = self.keys.get_mut(&key)?;
        let queued = known.values.pop_front()?;
        Some((Taken { key, source, values: vec![(queued.number, queued.source)], permit }, queued.value))
    }

    /// Takes the next value of a key that is worked on, if it is wanted.
    pub(crate) fn take_more(&mut self, taken: &mut Taken, is_wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let values = &mut self.keys.get_mut(&taken.key)?.values;
        if !is_wanted(&values.front()?.value) {
            return None;
        }
        let queued = values.pop_front()?;
        taken.values.push((queued.number, queued.source));
        Some(queued.value)
    }

    /// Ends the work on a key.
    pub(crate) fn done(&mut self, taken: Taken) {
        let Taken { key, source, values, .. } = taken;
        for (number, _) in &values {
            self.left.remove(number);
        }
        if let Some(line) = self.lines.get_mut(&source) {
            line.busy = line.busy.saturating_sub(1);
        }
        let next = self.keys.get(&key).and_then(|known| known.values.front()).map(|queued| queued.number);
        match next {
            Some(number) => self.make_ready(source.clone(), key, number),
            None => drop(self.keys.remove(&key)),
        }
        if let Some(line) = self.lines.get(&source)
            && line.ready.is_empty()
            && line.busy == 0
        {
            let turn = line.rank.0;
            self.lines.remove(&source);
            if self.remembered.len() >= MAX_REMEMBERED {
                self.remembered.clear();
            }
            self.remembered.insert(source, turn);
        }
    }

    /// True if a key waits, though its source may have to wait longer.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ranks.is_empty()
    }

    /// True if nothing is queued or worked on.
    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Returns how many keys of a source are worked on.
    pub(crate) fn busy(&self, source: &Source) -> usize {
        self.lines.get(source).map_or(0, |line| line.busy)
    }

    /// Returns the number of values that were ever queued.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// True if none of the first `number` values that were ever queued is left.
    pub(crate) fn has_passed(&self, number: u64) -> bool {
        self.left.first().is_none_or(|first| *first >= number)
    }
}

#[cfg(test)]
#[path = "fair_queue_tests.rs"]
mod tests;
