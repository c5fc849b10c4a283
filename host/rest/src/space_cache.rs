//! Spaces that runs execute in. Making one takes some milliseconds, so they are kept.

use crate::source::{AssembleError, Assembled, SpaceOutline};
use moka::sync::Cache;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Most spaces that are kept, and the time for which one is kept after its last run.
const MAX_KEPT: u64 = 200;
const KEPT_FOR: Duration = Duration::from_secs(10 * 60);

/// Most outlines that are kept. They are small.
const MAX_OUTLINES: u64 = 10_000;

/// Everything that a made space depends on: its id, a hash of the base and the part, and the version of the source. A
/// space whose part was changed has another key, while runs that are in progress use what they started with.
pub(crate) type Key = (String, String, u64);

/// Everything that an outline depends on: the same without the id.
pub(crate) type OutlineKey = (String, u64);

/// Made spaces, and outlines of spaces for lists. Clones share state.
#[derive(Clone)]
pub(crate) struct SpaceCache {
    made: Cache<Key, Arc<Assembled>>,
    /// Spaces that differ only in their names and files share one.
    outlines: Cache<OutlineKey, Arc<SpaceOutline>>,
}

impl Default for SpaceCache {
    fn default() -> SpaceCache {
        SpaceCache {
            made: Cache::builder().max_capacity(MAX_KEPT).time_to_idle(KEPT_FOR).build(),
            outlines: Cache::builder().max_capacity(MAX_OUTLINES).time_to_idle(KEPT_FOR).build(),
        }
    }
}

impl SpaceCache {
    /// Returns a space that was made before.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Assembled>> {
        self.made.get(key)
    }

    /// Returns the ids of the spaces that are kept.
    pub(crate) fn ids(&self) -> HashSet<String> {
        self.made.iter().map(|(key, _)| key.0.clone()).collect()
    }

    /// Forgets a space that ended.
    pub(crate) fn forget(&self, id: &str) {
        for (key, _) in self.made.iter().filter(|(key, _)| key.0 == id) {
            self.made.invalidate(&*key);
        }
    }

    /// Returns a space, and makes it if it is not there. Others who ask for it meanwhile wait. Blocks.
    pub(crate) fn get_or_make(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Assembled, AssembleError>,
    ) -> Result<Arc<Assembled>, AssembleError> {
        self.made.try_get_with(key, || make().map(Arc::new)).map_err(|error| (*error).clone())
    }

    /// Returns an outline, and makes it if it is not there. Blocks.
    pub(crate) fn outline(
        &self,
        key: OutlineKey,
        make: impl FnOnce() -> Result<SpaceOutline, AssembleError>,
    ) -> Result<Arc<SpaceOutline>, AssembleError> {
        self.outlines.try_get_with(key, || make().map(Arc::new)).map_err(|error| (*error).clone())
    }
}
