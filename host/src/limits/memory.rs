//! Linear memory: a growth that is refused ends the run, even if the script would catch it.

use super::{Limit, Reached};

pub(super) const CODE: &str = "limit.memory";
pub(super) const HINT: &str = "Keep less at one time: work on a page of the data, or raise the limit with --memory.";

/// Enough for some hundred thousand small objects; sixteen such runs fit a gigabyte.
pub(super) const DEFAULT: u64 = 64 << 20;

pub(super) fn message(allowed: u64) -> String {
    format!("The script needs more than its {allowed} bytes of memory")
}

/// How much memory a run has.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    allowed: u64,
    peak: u64,
}

impl MemoryLimit {
    pub(crate) fn new(allowed: u64) -> MemoryLimit {
        MemoryLimit { allowed, peak: 0 }
    }

    /// Takes note of a memory of this size, unless it is too large.
    pub(crate) fn grow(&mut self, size: usize) -> Result<(), Reached> {
        let size = size as u64;
        if size > self.allowed {
            return Err(Reached(Limit::Memory));
        }
        self.peak = self.peak.max(size);
        Ok(())
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }
}
