//! Prices and budgets.
//!
//! A budget is checked before each request: the answer that exceeds it is the last. Questions that are answered side by
//! side may each exceed the budget of their session or day by one answer. Answers of a nested agent are charged to its own
//! budgets and to those of every agent above it.
//!
//! - `price`: cost of an answer
//! - `day`: daily spending of an agent, over all its sessions

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

    /// The exhausted limit of a budget (`tokens` or `cost`) with the amount spent, if there is one.
    fn exceeds(&self, budget: &Budget) -> Option<(&'static str, String)> {
        if let Some(most) = budget.tokens.filter(|most| self.tokens >= *most) {
            return Some(("tokens", format!("{} of {most} tokens", self.tokens)));
        }
        let most = budget.cost.filter(|most| self.cost >= *most)?;
        Some(("cost", format!("{:.4} of {most}", self.cost)))
    }
}

/// Spending and budgets of a question, its session and its agent's day. Clones share it.
#[derive(Clone)]
pub(crate) struct Spending(Arc<Inner>);

struct Inner {
    budgets: Budgets,
    counted: Mutex<Counted>,
    day: Day,
    /// Question of the agent that called this one.
    parent: Option<Spending>,
}

#[derive(Default)]
struct Counted {
    usage: Usage,
    question: Spent,
    /// Spending of the question before it was interrupted.
    before: Spent,
    /// Spending of nested agents in this question.
    nested: Spent,
    /// The part of `nested` that is not in the session's log yet.
    unrecorded: Spent,
    /// True if an answer of the question has a price.
    has_price: bool,
    session: Spent,
}

impl Spending {
    /// The spending of a question that begins now. `parent` is the question of the agent that asks it, if one does.
    pub(crate) fn new(budgets: Budgets, session_so_far: Spent, day: Day, parent: Option<Spending>) -> Spending {
        let counted = Counted { session: session_so_far, ..Counted::default() };
        Spending(Arc::new(Inner { budgets, counted: Mutex::new(counted), day, parent }))
    }

    /// Counts the spending before an interruption for the budget of the question.
    pub(crate) fn go_on(&self, before: Spent) {
        self.counted().before = before;
    }

    /// Charges an answer to this question and to those above it. Returns its cost, if its price is known.
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
        // An agent that calls itself has one day for all its questions.
        let mut days = vec![&self.0.day];
        let mut above = self.0.parent.as_ref();
        while let Some(parent) = above {
            parent.add_nested(usage.total(), cost);
            let day = &parent.0.day;
            if !days.iter().any(|charged| charged.is_same(day)) {
                day.add(usage.total(), cost);
                days.push(day);
            }
            above = parent.0.parent.as_ref();
        }
        cost
    }

    /// Charges an answer of a nested agent to question and session.
    fn add_nested(&self, tokens: u64, cost: Option<f64>) {
        let mut counted = self.counted();
        counted.nested.add(tokens, cost);
        counted.unrecorded.add(tokens, cost);
        counted.session.add(tokens, cost);
    }

    /// Takes the spending of nested agents since the last call, for the session's log.
    pub(crate) fn take_nested(&self) -> Option<Spent> {
        let taken = std::mem::take(&mut self.counted().unrecorded);
        (taken != Spent::default()).then_some(taken)
    }

    /// Names the exhausted budget, if there is one: of this agent, or of one above it.
    pub(crate) fn exhausted(&self) -> Option<String> {
        let (question, session) = {
            let counted = self.counted();
            let mut question = counted.question;
            for other in [counted.before, counted.nested] {
                question.add(other.tokens, Some(other.cost));
            }
            (question, counted.session)
        };
        let budgets = &self.0.budgets;
        let all = [
            ("run", "this question", "Raise", question, budgets.run),
            ("session", "this session", "Start another session, or raise", session, budgets.session),
            ("day", "the agent's day", "Ask again after 00:00 UTC, or raise", self.0.day.spent(), budgets.day),
        ];
        let own = all.into_iter().find_map(|(key, name, advice, spent, budget)| {
            let (unit, share) = spent.exceeds(&budget)?;
            Some(format!("The budget of {name} is spent: {share}. {advice} `budgets.{key}.{unit}` of the agent."))
        });
        own.or_else(|| {
            let above = self.0.parent.as_ref()?.exhausted()?;
            Some(format!("The agent that called this one may spend no more. {above}"))
        })
    }

    /// Tokens of this question, without nested agents.
    pub(crate) fn usage(&self) -> Usage {
        self.counted().usage
    }

    /// Cost of this question without nested agents, if any of its answers has a price.
    pub(crate) fn cost(&self) -> Option<f64> {
        let counted = self.counted();
        counted.has_price.then_some(counted.question.cost)
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
