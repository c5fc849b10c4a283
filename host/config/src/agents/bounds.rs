//! Limits and budgets of an agent.

use super::super::decimal::Decimal;
use super::super::quantity::{read_count, read_duration};
use super::super::reader::{Node, Result};
use std::time::Duration;

/// Maximum limits: a question ends, and one agent does not take the whole machine.
const MAX_TURNS: u32 = 1_000;
const MAX_PARALLEL_CALLS: u32 = 64;
const MAX_ATTEMPTS: u32 = 20;

/// Largest budget, in tokens and in money.
const MAX_TOKENS: u64 = 1 << 50;
const MAX_COST: f64 = 1e9;

/// Limits of one question; `None` for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentLimits {
    /// Turns.
    pub turns: Option<u32>,
    /// Time for the whole question.
    pub time: Option<Duration>,
    /// Time for one call of a tool.
    pub tool_timeout: Option<Duration>,
    /// Calls side by side.
    pub parallel_calls: Option<u32>,
    /// Attempts at one model.
    pub attempts: Option<u32>,
}

impl AgentLimits {
    pub(super) fn read(node: Node<'_>) -> Result<AgentLimits> {
        let keys = ["turns", "time", "toolTimeout", "parallelCalls", "attempts"];
        let object = node.object("an object of limits", &keys)?;
        Ok(AgentLimits {
            turns: object.read("turns", |node| read_count(node, MAX_TURNS))?,
            time: object.read("time", read_duration)?,
            tool_timeout: object.read("toolTimeout", read_duration)?,
            parallel_calls: object.read("parallelCalls", |node| read_count(node, MAX_PARALLEL_CALLS))?,
            attempts: object.read("attempts", |node| read_count(node, MAX_ATTEMPTS))?,
        })
    }
}

/// Budgets of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentBudgets {
    /// For one question.
    pub run: AgentBudget,
    /// For one session.
    pub session: AgentBudget,
    /// For one day.
    pub day: AgentBudget,
}

/// One budget; `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentBudget {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<Decimal>,
}

impl AgentBudgets {
    pub(super) fn read(node: Node<'_>) -> Result<AgentBudgets> {
        let object = node.object("an object with `run`, `session` and `day`", &["run", "session", "day"])?;
        Ok(AgentBudgets {
            run: object.read("run", AgentBudget::read)?.unwrap_or_default(),
            session: object.read("session", AgentBudget::read)?.unwrap_or_default(),
            day: object.read("day", AgentBudget::read)?.unwrap_or_default(),
        })
    }
}

impl AgentBudget {
    fn read(node: Node<'_>) -> Result<AgentBudget> {
        let object = node.object("an object with `tokens` and `cost`", &["tokens", "cost"])?;
        Ok(AgentBudget {
            tokens: object.read("tokens", |node| read_count(node, MAX_TOKENS))?,
            cost: object.read("cost", |node| Decimal::read(node, 0.0..=MAX_COST))?,
        })
    }
}
