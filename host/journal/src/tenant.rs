//! Tenant for whom a thread works at the moment. A store that others wait for too lets tenants take turns by it.

use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static CURRENT: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Says for whom this thread works, until it is dropped.
#[derive(Debug)]
pub struct WorkingFor {
    before: Option<Arc<str>>,
}

impl WorkingFor {
    /// From now on this thread works for a tenant.
    #[must_use]
    pub fn new(tenant: Arc<str>) -> WorkingFor {
        WorkingFor { before: CURRENT.with_borrow_mut(|current| current.replace(tenant)) }
    }
}

impl Drop for WorkingFor {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| *current = self.before.take());
    }
}

/// Returns the tenant for whom this thread works, if it is known.
pub fn current() -> Option<Arc<str>> {
    CURRENT.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::{WorkingFor, current};

    #[test]
    fn the_innermost_tenant_counts_on_this_thread_alone() {
        assert_eq!(current(), None);
        let outer = WorkingFor::new("a".into());
        let inner = WorkingFor::new("b".into());
        assert_eq!(current().as_deref(), Some("b"));
        assert_eq!(std::thread::spawn(current).join().unwrap(), None);
        drop(inner);
        assert_eq!(current().as_deref(), Some("a"));
        drop(outer);
        assert_eq!(current(), None);
    }
}
