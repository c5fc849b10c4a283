//! Policy rule over functions.

use crate::argument::{ArgumentPath, Constraint};
use crate::pattern::Pattern;
use crate::rate::Rate;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// Decision on a call, ordered from least to most strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call proceeds.
    Allow,
    /// A person must approve it first.
    Approve,
    /// The call is refused.
    Deny,
}

/// Policy rule for the functions that match a pattern. The decision and middleware settings come from the most specific
/// rule; limits of every matching rule apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Functions it applies to.
    pub pattern: Pattern,
    /// Location in the configuration, such as `$.policy.functions["github.*"]`.
    #[serde(skip)]
    pub place: String,
    /// Decision on their calls.
    pub decision: Option<Decision>,
    /// Constraints on their arguments.
    pub arguments: Vec<(ArgumentPath, Constraint)>,
    /// Most calls of all of them in one run.
    pub max_per_run: Option<u64>,
    /// Most calls of all of them by the space in one UTC day.
    pub max_per_day: Option<u64>,
    /// Scopes required of the caller, all of them.
    pub scopes: Vec<String>,
    /// Rate limit shared by all of them.
    pub rate_limit: Option<Rate>,
    /// Calling twice has the same effect as calling once.
    pub idempotent: Option<bool>,
    /// Time to live of cached answers.
    pub cache: Option<Duration>,
    /// Retries of a failed call.
    pub retries: Option<u32>,
    /// Most concurrent calls of one function.
    pub concurrency: Option<u32>,
    /// Timeout of one call.
    pub timeout: Option<Duration>,
    /// Zero for rules of the configuration. A higher one is for rules of a part of a space: they are decided among
    /// themselves, and the strictest layer counts, so that no rule loosens those of a lower layer.
    pub layer: u32,
}

impl Rule {
    /// An empty rule.
    pub fn new(pattern: Pattern, place: impl Into<String>) -> Rule {
        Rule {
            pattern,
            place: place.into(),
            decision: None,
            arguments: Vec::new(),
            max_per_run: None,
            max_per_day: None,
            scopes: Vec::new(),
            rate_limit: None,
            idempotent: None,
            cache: None,
            retries: None,
            concurrency: None,
            timeout: None,
            layer: 0,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Decision::Allow => "allow",
            Decision::Approve => "approve",
            Decision::Deny => "deny",
        })
    }
}
