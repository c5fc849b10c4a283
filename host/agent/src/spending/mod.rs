//! What answers of models cost, and budgets.
//!
//! A budget is checked before each request: the answer that exceeds it is the last. Questions that are answered side by
//! side may each exceed the budget of their session or day by one answer.
//!
//! - `price`: the cost of an answer
//! - `day`: what all sessions of an agent spend in a day

mod day;
mod price;
#[cfg(test)]
mod tests;

pub(crate) use day::{Day, DaySpent};

use crate::definition::{Budget, Budgets};
use crate::model::Price;
use agent_spaces_models::Usage;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tokens and money that were spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    /// Input and output tokens.
    pub(crate) tokens: u64,
    /// Money. Never negative, never NaN.
    pub(crate) cost: f64,
}

impl Spent {
    /// Adds an answer.
    pub(crate) fn add(&mut self, tokens: u64, cost: Option<f64>) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost = price::money(self.cost) + price::money(cost.unwrap_or_default());
    }

    /// What is spent of a budget, as `tokens` or `cost`, if that is all of it.
    fn exceeds(&self, budget: &Budget) -> Option<(&'static str, String)> {
        if let Some(most) = budget.tokens.filter(|most| self.tokens >= *most) {
            return Some(("tokens", format!("{} of {most} tokens", self.tokens)));
        }
        let most = budget.cost.filter(|most| self.cost >= *most)?;
        Some(("cost", format!("{:.4} of {most}", self.cost)))
    }
}

/// What a question, its session and its agent's day have spent, and may spend. Clones share it.
#[derive(Clone)]
pub(crate) struct Spending(Arc<Inner>);

struct Inner {
    budgets: Budgets,
    counted: Mutex<Counted>,
    day: Day,
}

#[derive(Default)]
struct Counted {
    usage: Usage,
    question: Spent,
    /// What the question spent before it was interrupted.
    before: Spent,
    /// Whether a price is known of an answer of the question.
    has_price: bool,
    session: Spent,
}

impl Spending {
    /// The spending of a question that begins now.
    pub(crate) fn new(budgets: Budgets, session_so_far: Spent, day: Day) -> Spending {
        let counted = Counted { session: session_so_far, ..Counted::default() };
        Spending(Arc::new(Inner { budgets, counted: Mutex::new(counted), day }))
    }

    /// The question goes on: what it spent before counts for its budget.
    pub(crate) fn go_on(&self, before: Spent) {
        self.counted().before = before;
    }

    /// Adds an answer. Returns its cost, if its price is known.
    pub(crate) fn add(&self, usage: &Usage, price: Option<&Price>) -> Option<f64> {
        let cost = price.map(|price| price::cost(usage, price));
        let mut counted = self.counted();
        let sum = &mut counted.usage;
        for (sum, more) in [
            (&mut sum.input_tokens, usage.input_tokens),
            (&mut sum.output_tokens, usage.output_tokens),
            (&mut sum.cached_tokens, usage.cached_tokens),
            (&mut sum.cache_write_tokens, usage.cache_write_tokens),
            (&mut sum.reasoning_tokens, usage.reasoning_tokens),
        ] {
            *sum = sum.saturating_add(more);
        }
        counted.question.add(usage.total(), cost);
        counted.session.add(usage.total(), cost);
        counted.has_price |= cost.is_some();
        drop(counted);
        self.0.day.add(usage.total(), cost);
        cost
    }

    /// Says which budget is spent, if one is.
    pub(crate) fn exhausted(&self) -> Option<String> {
        let (question, session) = {
            let counted = self.counted();
            let mut question = counted.question;
            question.add(counted.before.tokens, Some(counted.before.cost));
            (question, counted.session)
        };
        let budgets = &self.0.budgets;
        let all = [
            ("run", "this question", "Raise", question, budgets.run),
            ("session", "this session", "Start another session, or raise", session, budgets.session),
            ("day", "the agent's day", "Ask again after 00:00 UTC, or raise", self.0.day.spent(), budgets.day),
        ];
        all.into_iter().find_map(|(key, name, advice, spent, budget)| {
            let (unit, share) = spent.exceeds(&budget)?;
            Some(format!("The budget of {name} is spent: {share}. {advice} `budgets.{key}.{unit}` of the agent."))
        })
    }

    /// Tokens of this question.
    pub(crate) fn usage(&self) -> Usage {
        self.counted().usage
    }

    /// Cost of this question, if a price is known of any of its answers.
    pub(crate) fn cost(&self) -> Option<f64> {
        let counted = self.counted();
        counted.has_price.then_some(counted.question.cost)
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
