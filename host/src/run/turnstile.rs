//! Answers of a run, given to its script one at a time, in the order in which they arrived.
//!
//! Several calls may be answered while a script computes, or before it is woken. Were they handed over as they come, the
//! engine would make room for them in the middle of other work, and hear of them in another order: the same run would
//! take other fuel. So an answer that has arrived waits until the script is idle and all that arrived before it was
//! taken.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Where the answers of a run wait.
#[derive(Clone, Default)]
pub(crate) struct Turnstile(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    /// Whether the guest asked for turns: components of others are given answers as they come.
    has_begun: bool,
    is_idle: bool,
    /// By their tickets, in the order of arrival. There are as many as a run may have handles.
    waiting: VecDeque<(u64, Option<Waker>)>,
    last_ticket: u64,
}

impl Queue {
    fn position(&self, ticket: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&ticket, |(other, _)| *other).ok()
    }

    fn leave(&mut self, ticket: u64) {
        if let Some(at) = self.position(ticket) {
            self.waiting.remove(at);
        }
    }

    /// Who may go on now.
    fn next(&mut self) -> Option<Waker> {
        if !self.is_idle {
            return None;
        }
        self.waiting.front_mut()?.1.take()
    }
}

impl Turnstile {
    /// Lets answers wait from now on.
    pub(crate) fn begin(&self) {
        self.queue().has_begun = true;
    }

    /// The script waits for the next answer.
    pub(crate) fn idle(&self) {
        let next = {
            let mut queue = self.queue();
            queue.is_idle = true;
            queue.next()
        };
        wake(next);
    }

    /// An answer has arrived. What is given ends when it is its turn.
    pub(crate) fn arrive(&self) -> Turn {
        let mut queue = self.queue();
        queue.last_ticket += 1;
        let ticket = queue.last_ticket;
        queue.waiting.push_back((ticket, None));
        Turn { turnstile: self.clone(), ticket, is_over: false }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // A queue is whole after every line that holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of one answer.
pub(crate) struct Turn {
    turnstile: Turnstile,
    ticket: u64,
    is_over: bool,
}

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let ticket = self.ticket;
        let is_over = {
            let mut queue = self.turnstile.queue();
            let is_first = queue.waiting.front().is_some_and(|(first, _)| *first == ticket);
            if !queue.has_begun {
                queue.leave(ticket);
                true
            } else if queue.is_idle && is_first {
                queue.waiting.pop_front();
                queue.is_idle = false;
                true
            } else {
                if let Some(at) = queue.position(ticket)
                    && let Some((_, waker)) = queue.waiting.get_mut(at)
                {
                    *waker = Some(context.waker().clone());
                }
                false
            }
        };
        if !is_over {
            return Poll::Pending;
        }
        self.is_over = true;
        Poll::Ready(())
    }
}

/// The call was cancelled: the next in line must not wait for it.
impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let next = {
            let mut queue = self.turnstile.queue();
            queue.leave(self.ticket);
            queue.next()
        };
        wake(next);
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll(turn: &mut Turn, woken: &Arc<Woken>) -> bool {
        Pin::new(turn).poll(&mut Context::from_waker(&Waker::from(woken.clone()))).is_ready()
    }

    #[test]
    fn answers_pass_one_at_a_time_in_the_order_of_arrival() {
        let turnstile = Turnstile::default();
        turnstile.begin();
        let (mut first, mut second) = (turnstile.arrive(), turnstile.arrive());
        let (one, two) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        assert!(!poll(&mut second, &two) && !poll(&mut first, &one));
        turnstile.idle();
        assert_eq!((one.0.load(Ordering::Relaxed), two.0.load(Ordering::Relaxed)), (1, 0));
        assert!(!poll(&mut second, &two) && poll(&mut first, &one));
        assert!(!poll(&mut second, &two));
        turnstile.idle();
        assert!(two.0.load(Ordering::Relaxed) == 1 && poll(&mut second, &two));
    }

    #[test]
    fn a_cancelled_answer_lets_the_next_one_pass() {
        let turnstile = Turnstile::default();
        turnstile.begin();
        let (mut first, mut second) = (turnstile.arrive(), turnstile.arrive());
        let woken = Arc::new(Woken::default());
        turnstile.idle();
        assert!(!poll(&mut second, &woken));
        drop(first);
        assert!(woken.0.load(Ordering::Relaxed) == 1 && poll(&mut second, &woken));
        first = turnstile.arrive();
        drop(second);
        turnstile.idle();
        assert!(poll(&mut first, &woken));
    }

    #[test]
    fn whoever_asks_for_no_turns_is_given_answers_as_they_come() {
        let turnstile = Turnstile::default();
        let (_first, mut second) = (turnstile.arrive(), turnstile.arrive());
        assert!(poll(&mut second, &Arc::new(Woken::default())));
    }
}
