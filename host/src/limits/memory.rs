//! Linear memory: a growth that is refused ends the run, even if the script would catch it.

use super::{Limit, Reached};

pub(super) const CODE: &str = "limit.memory";
pub(super) const ADVICE: &str = "Keep less at one time: work on a page of the data";

/// Enough for some hundred thousand small objects; sixteen such runs fit a gigabyte.
pub(super) const DEFAULT: u64 = 64 << 20;

pub(super) fn message(allowed: u64) -> String {
    format!("The script needs more than its {allowed} bytes of memory")
}

/// What the host keeps for one element of a table.
const ELEMENT_BYTES: u64 = 16;

/// How much memory a run has: all of its memories and tables together, since a component of others may have many.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    allowed: u64,
    memories: u64,
    tables: u64,
}

impl MemoryLimit {
    pub(crate) fn new(allowed: u64) -> MemoryLimit {
        MemoryLimit { allowed, memories: 0, tables: 0 }
    }

    /// Takes note of a memory that grows, in bytes, unless it is too much.
    pub(crate) fn grow(&mut self, current: usize, desired: usize) -> Result<(), Reached> {
        let memories = self.memories.saturating_add(desired.saturating_sub(current) as u64);
        self.check(memories, self.tables)?;
        self.memories = memories;
        Ok(())
    }

    /// Takes note of a table that grows, in elements, unless it is too much.
    pub(crate) fn grow_table(&mut self, current: usize, desired: usize) -> Result<(), Reached> {
        let more = (desired.saturating_sub(current) as u64).saturating_mul(ELEMENT_BYTES);
        let tables = self.tables.saturating_add(more);
        self.check(self.memories, tables)?;
        self.tables = tables;
        Ok(())
    }

    fn check(&self, memories: u64, tables: u64) -> Result<(), Reached> {
        if memories.saturating_add(tables) > self.allowed { Err(Reached(Limit::Memory)) } else { Ok(()) }
    }

    /// How large its memories have become. They never shrink.
    pub(crate) fn peak(&self) -> u64 {
        self.memories
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryLimit;

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
