//! Questions by number: a nested question is charged to the question whose call asks it, also if a program asks it that
//! outlives that question.

use super::question::Question;
use crate::spending::Spending;
use agent_spaces_types::caller::QuestionNumber;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The next number. One sequence for all services of the process: their spaces may call each other's agents.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Ended questions that can still be charged. A program outlives its question by minutes; each takes some 500 bytes.
const MAX_ENDED: usize = 1_000;

/// Questions in progress, and the last ones that ended. Clones share them.
#[derive(Clone, Default)]
pub(super) struct OpenQuestions(Arc<Mutex<Questions>>);

#[derive(Default)]
struct Questions {
    by_number: HashMap<u64, OpenQuestion>,
    /// Numbers of those that ended, oldest first.
    ended: VecDeque<u64>,
}

/// A question that nested questions are charged to.
#[derive(Clone)]
pub(super) struct OpenQuestion {
    /// Its budgets.
    pub(super) spending: Spending,
    /// Agents that its answers are charged to: its own, then those above it, each once.
    pub(super) agents: Vec<String>,
}

/// Registration of a question, which ends when this is dropped.
pub(super) struct Registered {
    all: OpenQuestions,
    number: QuestionNumber,
}

/// Returns a number that no other question of this process has.
pub(super) fn next_number() -> QuestionNumber {
    QuestionNumber(Some(NEXT.fetch_add(1, Ordering::Relaxed)))
}

impl OpenQuestions {
    /// The question above a nested one. There is none for a question of a script outside of agents, or if the question
    /// above ended long ago.
    pub(super) fn parent_of(&self, question: &Question) -> Option<OpenQuestion> {
        question.parent.as_ref()?;
        let number = question.client.caller().agent_question.0?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_number.get(&number).cloned()
    }

    /// Registers a question under its number.
    #[must_use]
    pub(super) fn register(&self, number: QuestionNumber, question: OpenQuestion) -> Registered {
        if let Some(number) = number.0 {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).by_number.insert(number, question);
        }
        Registered { all: self.clone(), number }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let Some(number) = self.number.0 else { return };
        let mut questions = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        questions.ended.push_back(number);
        let oldest = if questions.ended.len() > MAX_ENDED { questions.ended.pop_front() } else { None };
        let forgotten = oldest.and_then(|oldest| questions.by_number.remove(&oldest));
        drop(questions);
        // Outside of the lock.
        drop(forgotten);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Budgets;
    use crate::spending::{Day, Spent};

    #[test]
    fn the_number_of_ended_questions_is_bounded() {
        let all = OpenQuestions::default();
        let last = MAX_ENDED as u64;
        for number in 0..=last {
            let spending = Spending::new(Budgets::default(), Spent::default(), Day::default(), None);
            drop(all.register(QuestionNumber(Some(number)), OpenQuestion { spending, agents: Vec::new() }));
        }
        let questions = all.0.lock().unwrap();
        assert_eq!((questions.by_number.len(), questions.ended.len()), (MAX_ENDED, MAX_ENDED));
        assert!(!questions.by_number.contains_key(&0) && questions.by_number.contains_key(&last));
    }
}
