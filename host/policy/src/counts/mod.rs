//! Call counters: per run, per day, and per rate-limit window.
//!
//! # Layout
//!
//! - `tally`: counters of one day
//! - `day_file`, `day_memory`: storage of daily counters
//! - `rate_file`: rate-limit windows shared between processes
//! - `place`: the file of these, or a store that hosts share; `reserve`: calls that are counted ahead in such a store

mod count_error;
mod day_file;
mod day_memory;
mod place;
mod private_file;
mod rate_file;
mod reserve;
#[cfg(test)]
mod shared_tests;
mod tally;

pub use agent_spaces_types::run_counts::RunCounts;
pub use count_error::CountError;
pub use day_file::DayFile;
pub use day_memory::DayMemory;
pub use place::{Change, CountStore};
pub use rate_file::RateFile;
pub(crate) use rate_file::WantedRate;
pub use reserve::Reserves;

/// File for the counters of a part of a space.
#[derive(Clone, Debug)]
struct Part<F> {
    file: F,
    /// Start of the locations of the part's own rules.
    place: String,
}

impl<F> Part<F> {
    /// True if a key, `pattern at location`, is that of a rule of the part. Patterns have no spaces.
    fn owns(&self, key: &str) -> bool {
        key.split_once(" at ").is_some_and(|(_, place)| place.starts_with(&self.place))
    }
}

/// Daily call counters of a space, by UTC day.
pub trait DayCounts: Send + Sync {
    /// Counts one call under each key, or under none if one is full. May block briefly on other processes.
    fn take(&self, wanted: &[Wanted<'_>]) -> Result<Taken, CountError>;
}

/// A counter and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Key of the counter.
    pub key: &'a str,
    /// Limit.
    pub most: u64,
}

/// Result of counting a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Counted under every key.
    Counted,
    /// Not counted: the key at this index reached its limit.
    Full(usize),
}
