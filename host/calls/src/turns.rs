//! Turns on the processors: what a run starts besides itself takes them too.
//!
//! A server that lets tenants take turns polls their work on threads of its own. Such work may start more that is polled
//! apart from it, as the run of a script that answers a call is. A task of the async runtime would compute in nobody's
//! turn, so whoever starts one asks here for the turns of the work that this thread polls. Who waits for other work is not
//! polled meanwhile, and has no turn that it could need.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Work without a result.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

thread_local! {
    static CURRENT: RefCell<Option<Turns>> = const { RefCell::new(None) };
}

/// Turns of one tenant. Clones are the same.
#[derive(Clone)]
pub struct Turns(Arc<dyn Fn(Work) -> Work + Send + Sync>);

/// Says whose turns the work takes that this thread polls, until it is dropped.
#[derive(Debug)]
pub struct Entered {
    before: Option<Turns>,
    /// It is of this thread.
    _thread: PhantomData<*const ()>,
}

impl Turns {
    /// Creates turns: `in_turn` returns what does some work in its turn, and ends it when it is dropped.
    pub fn new(in_turn: impl Fn(Work) -> Work + Send + Sync + 'static) -> Turns {
        Turns(Arc::new(in_turn))
    }

    /// Returns the turns that the work takes which this thread polls; `None` if the executor decides.
    pub fn current() -> Option<Turns> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// From now on this thread polls work that takes these turns.
    #[must_use]
    pub fn enter(&self) -> Entered {
        let before = CURRENT.with_borrow_mut(|current| current.replace(self.clone()));
        Entered { before, _thread: PhantomData }
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Turns").finish_non_exhaustive()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.before.take();
        let ended = CURRENT.with_borrow_mut(|current| std::mem::replace(current, before));
        // Outside of the borrow: it may be the last clone.
        drop(ended);
    }
}

/// Returns the result of work that is polled in these turns; without any, by whoever polls this. `None` if the work was
/// dropped before its end. Dropping this ends the work, and a panic in it goes on here.
pub async fn in_turn<T: Send + 'static>(
    turns: Option<Turns>,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let Some(Turns(in_turn)) = turns else { return Some(work.await) };
    let (sender, result) = oneshot::channel();
    // Whoever drops the receiver does not want the result.
    in_turn(Box::pin(async move { drop(sender.send(work.await)) })).await;
    result.await.ok()
}

#[cfg(test)]
mod tests {
    use super::{Turns, Work, in_turn};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Turns, and how often they were taken.
    fn counted() -> (Turns, Arc<AtomicUsize>) {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = taken.clone();
        let turns = Turns::new(move |work: Work| {
            counted.fetch_add(1, Ordering::SeqCst);
            work
        });
        (turns, taken)
    }

    #[tokio::test]
    async fn work_takes_the_turns_that_it_is_given() {
        let (turns, taken) = counted();
        assert_eq!(in_turn(Some(turns), async { 7 }).await, Some(7));
        assert_eq!(taken.load(Ordering::SeqCst), 1);
        assert_eq!(in_turn(None, async { 8 }).await, Some(8));
        assert_eq!(taken.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn work_that_is_dropped_has_no_result() {
        let dropping = Turns::new(|work: Work| {
            drop(work);
            Box::pin(async {})
        });
        assert_eq!(in_turn(Some(dropping), async { 7 }).await, None);
    }

    #[test]
    fn a_thread_has_the_innermost_turns_until_it_leaves_them() {
        let ((outer, of_outer), (inner, of_inner)) = (counted(), counted());
        let take = || {
            let turns = Turns::current().map(|turns| drop((turns.0)(Box::pin(async {}))));
            (turns.is_some(), of_outer.load(Ordering::SeqCst), of_inner.load(Ordering::SeqCst))
        };
        assert_eq!(take(), (false, 0, 0));
        let outer = outer.enter();
        assert_eq!(take(), (true, 1, 0));
        let inner = inner.enter();
        assert_eq!(take(), (true, 1, 1));
        assert!(std::thread::spawn(|| Turns::current().is_none()).join().unwrap());
        drop(inner);
        assert_eq!(take(), (true, 2, 1));
        drop(outer);
        assert_eq!(take(), (false, 2, 1));
    }
}
