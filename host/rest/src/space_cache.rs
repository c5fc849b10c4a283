//! Spaces that runs execute in. Making one takes some milliseconds, so they are kept.

use crate::source::{AssembleError, Assembled};
use moka::sync::Cache;
use std::sync::Arc;
use std::time::Duration;

/// Most spaces that are kept, and the time for which one is kept after its last run.
const MAX_KEPT: u64 = 200;
const KEPT_FOR: Duration = Duration::from_secs(10 * 60);

/// Everything that a made space depends on: its id, its version in the store, and the version of the source.
pub(crate) type Key = (String, u64, u64);

/// Made spaces. Clones share state.
#[derive(Clone)]
pub(crate) struct SpaceCache(Cache<Key, Arc<Assembled>>);

impl Default for SpaceCache {
    fn default() -> SpaceCache {
        SpaceCache(Cache::builder().max_capacity(MAX_KEPT).time_to_idle(KEPT_FOR).build())
    }
}

impl SpaceCache {
    /// Returns a space that was made before.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Assembled>> {
        self.0.get(key)
    }

    /// Forgets a space that ended.
    pub(crate) fn forget(&self, id: &str) {
        for (key, _) in self.0.iter().filter(|(key, _)| key.0 == id) {
            self.0.invalidate(&*key);
        }
    }

    /// Returns a space, and makes it if it is not there. Others who ask for it meanwhile wait. Blocks.
    pub(crate) fn get_or_make(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Assembled, AssembleError>,
    ) -> Result<Arc<Assembled>, AssembleError> {
        self.0.try_get_with(key, || make().map(Arc::new)).map_err(|error| (*error).clone())
    }
}
