//! Answer queue of a run: delivers answers to the script one at a time, in order of arrival.
//!
//! Several calls may be answered while a script computes, or before it is woken. If they were delivered at once, the
//! engine would allocate memory for them in the middle of other work and see them in another order, so the same run
//! would consume different fuel. So an answer waits until the script is idle and all earlier answers are delivered.
//!
//! A run that is replayed gets its recorded answers in the recorded order, whenever they are looked up.

use agent_spaces_calls::journal::Delivery;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Queue of a run's answers. Clones share state.
#[derive(Clone, Default)]
pub struct AnswerQueue(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    /// True once the guest asked for delivery one at a time. Foreign components do not, and get answers at once.
    has_begun: bool,
    is_idle: bool,
    /// Recorded deliveries that are still to come, before all others.
    recorded: VecDeque<Delivery>,
    /// Answers in order of arrival, by ticket. Their number is bounded by the handles of a run.
    waiting: VecDeque<WaitingAnswer>,
    last_ticket: u64,
}

struct WaitingAnswer {
    ticket: u64,
    delivery: Delivery,
    waker: Option<Waker>,
}

impl Queue {
    fn position(&self, ticket: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&ticket, |answer| answer.ticket).ok()
    }

    /// Returns the position of the answer whose turn it is.
    fn first(&self) -> Option<usize> {
        match self.recorded.front() {
            Some(recorded) => self.waiting.iter().position(|answer| answer.delivery == *recorded),
            None => (!self.waiting.is_empty()).then_some(0),
        }
    }

    fn leave(&mut self, ticket: u64) {
        let removed = self.position(ticket).and_then(|at| self.waiting.remove(at));
        if let Some(delivery) = removed.map(|answer| answer.delivery)
            && self.recorded.front() == Some(&delivery)
        {
            self.recorded.pop_front();
        }
    }

    /// Returns the waker of the next answer, if the script is idle.
    fn next(&mut self) -> Option<Waker> {
        if !self.is_idle {
            return None;
        }
        let first = self.first()?;
        self.waiting.get_mut(first)?.waker.take()
    }
}

impl AnswerQueue {
    /// Creates the queue of a run that is replayed, with its recorded deliveries.
    pub fn replaying(recorded: Vec<Delivery>) -> AnswerQueue {
        AnswerQueue(Arc::new(Mutex::new(Queue { recorded: recorded.into(), ..Queue::default() })))
    }

    /// Enables delivery one at a time.
    pub fn begin(&self) {
        self.queue().has_begun = true;
    }

    /// Delivers the next answer: the script is idle.
    pub fn idle(&self) {
        let next = {
            let mut queue = self.queue();
            queue.is_idle = true;
            queue.next()
        };
        wake(next);
    }

    /// Adds an answer. The future completes when it may be delivered.
    pub fn enqueue(&self, delivery: Delivery) -> QueuedAnswer {
        let mut queue = self.queue();
        queue.last_ticket += 1;
        let ticket = queue.last_ticket;
        queue.waiting.push_back(WaitingAnswer { ticket, delivery, waker: None });
        QueuedAnswer { answers: self.clone(), ticket, is_delivered: false }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // The queue is consistent after every statement, so a poisoned lock is harmless.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Future of one answer's delivery.
pub struct QueuedAnswer {
    answers: AnswerQueue,
    ticket: u64,
    is_delivered: bool,
}

impl Future for QueuedAnswer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let ticket = self.ticket;
        let is_delivered = {
            let mut queue = self.answers.queue();
            let is_first = queue.first().is_some() && queue.first() == queue.position(ticket);
            if !queue.has_begun {
                queue.leave(ticket);
                true
            } else if queue.is_idle && is_first {
                queue.leave(ticket);
                queue.is_idle = false;
                true
            } else {
                if let Some(at) = queue.position(ticket)
                    && let Some(answer) = queue.waiting.get_mut(at)
                {
                    answer.waker = Some(context.waker().clone());
                }
                false
            }
        };
        if !is_delivered {
            return Poll::Pending;
        }
        self.is_delivered = true;
        Poll::Ready(())
    }
}

/// A cancelled call must not block the next answer.
impl Drop for QueuedAnswer {
    fn drop(&mut self) {
        if self.is_delivered {
            return;
        }
        let next = {
            let mut queue = self.answers.queue();
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
    use crate::state::answer_queue::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll(answer: &mut QueuedAnswer, woken: &Arc<Woken>) -> bool {
        Pin::new(answer).poll(&mut Context::from_waker(&Waker::from(woken.clone()))).is_ready()
    }

    #[test]
    fn answers_are_delivered_one_at_a_time_in_order_of_arrival() {
        let answers = AnswerQueue::default();
        answers.begin();
        let (mut first, mut second) = (answers.enqueue(Delivery::Call(1)), answers.enqueue(Delivery::Call(2)));
        let (one, two) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        assert!(!poll(&mut second, &two) && !poll(&mut first, &one));
        answers.idle();
        assert_eq!((one.0.load(Ordering::Relaxed), two.0.load(Ordering::Relaxed)), (1, 0));
        assert!(!poll(&mut second, &two) && poll(&mut first, &one));
        assert!(!poll(&mut second, &two));
        answers.idle();
        assert!(two.0.load(Ordering::Relaxed) == 1 && poll(&mut second, &two));
    }

    #[test]
    fn a_cancelled_answer_does_not_block_the_next() {
        let answers = AnswerQueue::default();
        answers.begin();
        let (mut first, mut second) = (answers.enqueue(Delivery::Call(1)), answers.enqueue(Delivery::Call(2)));
        let woken = Arc::new(Woken::default());
        answers.idle();
        assert!(!poll(&mut second, &woken));
        drop(first);
        assert!(woken.0.load(Ordering::Relaxed) == 1 && poll(&mut second, &woken));
        first = answers.enqueue(Delivery::Timer(1));
        drop(second);
        answers.idle();
        assert!(poll(&mut first, &woken));
    }

    #[test]
    fn a_guest_that_does_not_ask_for_turns_gets_answers_at_once() {
        let answers = AnswerQueue::default();
        let (_first, mut second) = (answers.enqueue(Delivery::Call(1)), answers.enqueue(Delivery::Call(2)));
        assert!(poll(&mut second, &Arc::new(Woken::default())));
    }

    #[test]
    fn recorded_answers_come_first_and_in_the_recorded_order() {
        let answers = AnswerQueue::replaying(vec![Delivery::Call(2), Delivery::Timer(1), Delivery::Call(1)]);
        answers.begin();
        let woken = Arc::new(Woken::default());
        let (mut new, mut one, mut two) = (
            answers.enqueue(Delivery::Call(9)),
            answers.enqueue(Delivery::Call(1)),
            answers.enqueue(Delivery::Call(2)),
        );
        answers.idle();
        assert!(!poll(&mut new, &woken) && !poll(&mut one, &woken) && poll(&mut two, &woken));
        answers.idle();
        assert!(!poll(&mut new, &woken) && !poll(&mut one, &woken), "the timer is next");
        let mut timer = answers.enqueue(Delivery::Timer(1));
        assert!(poll(&mut timer, &woken));
        answers.idle();
        assert!(!poll(&mut new, &woken) && poll(&mut one, &woken));
        answers.idle();
        assert!(poll(&mut new, &woken));
    }
}
