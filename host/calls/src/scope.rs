//! Run scope: values that a provider keeps for one run, such as a connection.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Kept = HashMap<String, Arc<dyn Any + Send + Sync>>;

/// Values that live as long as a run, by name. They are dropped when the run ends.
#[derive(Clone, Default)]
pub struct RunScope(Arc<Mutex<Kept>>);

impl RunScope {
    /// Returns the value of this name and type, or inserts the one that `make` creates.
    pub fn get_or_insert<T: Any + Send + Sync>(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(name).cloned().and_then(|known| known.downcast().ok()) {
            return known;
        }
        let made = Arc::new(make());
        kept.insert(name.to_owned(), made.clone());
        made
    }
}

impl fmt::Debug for RunScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        formatter.debug_set().entries(kept.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::scope::RunScope;
    use std::sync::Arc;

    #[test]
    fn a_name_has_one_value_until_the_last_clone_is_dropped() {
        let scope = RunScope::default();
        let first: Arc<u32> = scope.clone().get_or_insert("a", || 1);
        assert_eq!(*scope.get_or_insert("a", || 2_u32), 1);
        assert_eq!(*scope.get_or_insert("b", || 3_u32), 3);
        let weak = Arc::downgrade(&first);
        drop((scope, first));
        assert!(weak.upgrade().is_none());
    }
}
