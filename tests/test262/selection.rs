//! Selection of tests from the environment.

use std::env;

/// Tests whose path contains the filter, and of those the shard.
#[derive(Debug)]
pub(crate) struct Selection {
    filter: String,
    /// From 1, and the number of shards.
    shard: (usize, usize),
}

impl Selection {
    /// Reads `TEST262_FILTER` and `TEST262_SHARD`.
    pub(crate) fn from_environment() -> Result<Selection, String> {
        let filter = env::var("TEST262_FILTER").unwrap_or_default();
        let shard = match env::var("TEST262_SHARD") {
            Ok(shard) => shard_of(&shard).ok_or(format!("TEST262_SHARD is {shard:?}; write it as 1/4"))?,
            Err(_) => (1, 1),
        };
        Ok(Selection { filter, shard })
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.filter.is_empty() && self.shard.1 == 1
    }

    /// True if the test with this index and path is selected. Neighbours are in different shards, since the slow
    /// tests are in few folders.
    pub(crate) fn has(&self, index: usize, path: &str) -> bool {
        let (shard, count) = self.shard;
        index % count == shard - 1 && path.contains(&self.filter)
    }
}

fn shard_of(text: &str) -> Option<(usize, usize)> {
    let (shard, count) = text.split_once('/')?;
    let (shard, count) = (shard.parse().ok()?, count.parse().ok()?);
    (1..=count).contains(&shard).then_some((shard, count))
}
