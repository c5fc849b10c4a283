//! How often something was called: in a run, by a space in a day, and in the period of a rate.
//!
//! # Layout
//!
//! - `run`: the counts of a run, which end with it
//! - `tally`: the counts of a day
//! - `day_file`, `day_memory`: where a day's counts are kept
//! - `rate_file`: the calls of rates, over processes

mod count_error;
mod day_file;
mod day_memory;
mod private_file;
mod rate_file;
mod run;
mod tally;

pub use count_error::CountError;
pub use day_file::DayFile;
pub use day_memory::DayMemory;
pub use rate_file::RateFile;
pub(crate) use rate_file::WantedRate;
pub use run::RunCounts;

/// Counts the calls of a space in a day, by the clock of UTC.
pub trait DayCounts: Send + Sync {
    /// Counts one call under each of the keys, or under none of them if one is full. May wait a moment for other
    /// processes.
    fn take(&self, wanted: &[Wanted<'_>]) -> Result<Taken, CountError>;
}

/// A key to count under, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// What is counted.
    pub key: &'a str,
    /// The most that there may be.
    pub most: u64,
}

/// Whether a call was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was, under every key.
    Counted,
    /// It was not: there are as many as there may be under the key of this index.
    Full(usize),
}
