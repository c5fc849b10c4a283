//! What an operator says of some functions.

use crate::argument::{ArgumentPath, Constraint};
use crate::pattern::Pattern;
use crate::rates::Rate;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// What becomes of a call. The later, the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It goes on.
    Allow,
    /// A person is asked first.
    Approve,
    /// It is refused.
    Deny,
}

/// What is said of the functions that a pattern stands for. Only the decision and the settings of the most specific
/// rule hold; all that limits calls holds in every rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which functions.
    pub pattern: Pattern,
    /// Where the rule stands, such as `$.policy.functions["github.*"]`.
    pub place: String,
    /// What becomes of their calls.
    pub decision: Option<Decision>,
    /// What must hold of their arguments.
    pub arguments: Vec<(ArgumentPath, Constraint)>,
    /// How many calls of them all one run may make.
    pub max_per_run: Option<u64>,
    /// How many calls of them all the space may make in a day, by the clock of UTC.
    pub max_per_day: Option<u64>,
    /// Scopes that the caller must have, every one of them.
    pub scopes: Vec<String>,
    /// How fast all of them together may be called.
    pub rate_limit: Option<Rate>,
    /// Whether calling twice is the same as calling once.
    pub idempotent: Option<bool>,
    /// How long an answer may be given again.
    pub cache: Option<Duration>,
    /// How often a call that failed is tried again.
    pub retries: Option<u32>,
    /// How many calls of one function wait for their answer at one time.
    pub concurrency: Option<u32>,
    /// How long one call may take.
    pub timeout: Option<Duration>,
}

impl Rule {
    /// A rule that says nothing yet.
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
