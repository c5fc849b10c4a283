//! Turns, tokens and money of a session.

use crate::record::Record;
use serde::{Deserialize, Serialize};

/// Turns, tokens and money of all questions of a session so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionTotals {
    /// Answers of models.
    pub turns: u64,
    /// Tokens and money.
    pub usage: SessionUsage,
}

/// Tokens and money of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionUsage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Money, with that of nested agents, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl SessionTotals {
    /// Totals of all records.
    pub(super) fn of_all(records: &[Record]) -> SessionTotals {
        let mut totals = SessionTotals::default();
        records.iter().for_each(|record| totals.add(SessionTotals::of(record)));
        totals
    }

    /// Totals of one record.
    pub(super) fn of(record: &Record) -> SessionTotals {
        match record {
            Record::Answered { answer, cost, .. } => SessionTotals {
                turns: 1,
                usage: SessionUsage {
                    input_tokens: answer.usage.input_tokens,
                    output_tokens: answer.usage.output_tokens,
                    cost: *cost,
                },
            },
            Record::Nested { cost, .. } if *cost > 0.0 => {
                let usage = SessionUsage { cost: Some(*cost), ..SessionUsage::default() };
                SessionTotals { usage, ..SessionTotals::default() }
            }
            _ => SessionTotals::default(),
        }
    }

    /// Adds others.
    pub(super) fn add(&mut self, more: SessionTotals) {
        self.turns = self.turns.saturating_add(more.turns);
        let (usage, more) = (&mut self.usage, more.usage);
        usage.input_tokens = usage.input_tokens.saturating_add(more.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(more.output_tokens);
        usage.cost = match (usage.cost, more.cost) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or_default() + other.unwrap_or_default()),
        };
    }
}
