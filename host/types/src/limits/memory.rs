//! Memory limit: linear memories and tables. A refused growth ends the run, even if the script would catch it.

use super::{Limit, Reached};
use crate::code::Code;

pub(super) const CODE: Code = Code::LimitMemory;
pub(super) const ADVICE: &str = "Keep less at one time: work on a page of the data";

/// Enough for about a hundred thousand small objects; sixteen such runs fit in a gigabyte.
pub(super) const DEFAULT: u64 = 64 << 20;

pub(super) fn message(allowed: u64) -> String {
    format!("The script needs more than its {allowed} bytes of memory")
}

/// Host memory of one table element.
const ELEMENT_BYTES: u64 = 16;

/// Memory limit over all memories and tables of a run: a foreign component may have many.
#[derive(Debug)]
pub struct MemoryLimit {
    allowed: u64,
    memories: u64,
    tables: u64,
}

impl MemoryLimit {
    /// Creates a limit of `allowed` bytes.
    pub fn new(allowed: u64) -> MemoryLimit {
        MemoryLimit { allowed, memories: 0, tables: 0 }
    }

    /// Counts the growth of a memory in bytes, or refuses it if it exceeds the limit.
    pub fn grow(&mut self, current: usize, desired: usize) -> Result<(), Reached> {
        let memories = self.memories.saturating_add(desired.saturating_sub(current) as u64);
        self.check(memories, self.tables)?;
        self.memories = memories;
        Ok(())
    }

    /// Counts the growth of a table in elements, or refuses it if it exceeds the limit.
    pub fn grow_table(&mut self, current: usize, desired: usize) -> Result<(), Reached> {
        let more = (desired.saturating_sub(current) as u64).saturating_mul(ELEMENT_BYTES);
        let tables = self.tables.saturating_add(more);
        self.check(self.memories, tables)?;
        self.tables = tables;
        Ok(())
    }

    fn check(&self, memories: u64, tables: u64) -> Result<(), Reached> {
        if memories.saturating_add(tables) > self.allowed { Err(Reached(Limit::Memory)) } else { Ok(()) }
    }

    /// Peak size of the memories in bytes. They never shrink.
    pub fn peak(&self) -> u64 {
        self.memories
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::memory::MemoryLimit;

    #[test]
    fn all_memories_and_tables_count_together() {
        let mut limit = MemoryLimit::new(1000);
        assert!(limit.grow(0, 400).is_ok() && limit.grow(0, 400).is_ok());
        assert!(limit.grow(400, 700).is_err(), "a third memory's worth");
        assert!(limit.grow_table(0, 10).is_ok() && limit.grow_table(10, 20).is_err());
        assert!(limit.grow(400, 440).is_ok() && limit.grow(440, 441).is_err());
        assert_eq!(limit.peak(), 840);
    }
}
