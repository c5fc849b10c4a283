//! Policy engine: presets, rules over functions and their arguments, call limits and rate limits.
//!
//! Makes decisions only: it makes no calls and reads no configuration. The only files it touches hold call counts.
//!
//! # Layout
//!
//! - `settings`, `rule`, `preset`: what an operator configures, and the defaults
//! - `policy`, `function`, `facts`: the effective policy of a space and of one function
//! - `pattern`, `labels`, `decide`: name patterns of rules, ambiguous labels, and rule precedence
//! - `tightening`: settings of a part of a space, which only tighten those of the whole
//! - `untrusted_settings`: settings that may tighten a policy but not loosen it
//! - `argument/`: constraints on arguments, compared in canonical form; path traversal is refused
//! - `call_limits`, `counts/`: call limits per run and per day, and their counters
//! - `rate`, `limiter`, `rates`, `window`: rate limits (sliding window)
//! - `middleware`: caching, retries, concurrency and timeouts of allowed calls
//! - `files`, `network` with `domains`: file and network access of the standard library
//! - `explain`, `refusal`, `unused_rules`, `sanitize`: explanations, error messages and warnings

mod argument;
mod call_limits;
mod counts;
mod decide;
mod domains;
mod explain;
mod facts;
mod files;
mod function;
mod labels;
mod limiter;
mod middleware;
mod network;
mod pattern;
mod policy;
mod preset;
mod rate;
mod rates;
mod refusal;
mod rule;
mod sanitize;
mod settings;
mod tightening;
mod untrusted_settings;
mod unused_rules;
mod window;

pub use agent_spaces_types::identity::FunctionId;
pub use agent_spaces_types::names::not_callable;
pub use agent_spaces_types::rate_limit::{Period, RateLimit};
pub use argument::{ArgumentPath, Constraint, ConstraintError, PathError, TextKind, TextPattern, TextPatternError};
pub use counts::{
    Change, CountError, CountStore, DayCounts, DayFile, DayMemory, RateFile, Reserves, RunCounts, Taken, Wanted,
};
pub use decide::{Because, Decided};
pub use domains::{DomainError, DomainPattern};
pub use explain::{Explained, Explanation};
pub use facts::{Facts, Kind};
pub use files::FilePolicy;
pub use function::{FunctionPolicy, UnknownArgument};
pub use labels::{AmbiguousRule, LabelledFunction};
pub use middleware::Middleware;
pub use network::{NetworkPolicy, NetworkRefusal};
pub use pattern::{Pattern, PatternError};
pub use policy::{ApprovalPolicy, Policy};
pub use preset::{Preset, PresetLimits};
pub use rate::Rate;
pub use rates::Wait;
pub use refusal::Refusal;
pub use rule::{Decision, Rule};
pub use settings::{ApprovalSettings, FileSettings, NetworkSettings, Settings};
pub use tightening::Loosens;
pub use unused_rules::{UnknownCapability, UnusedRule};

#[cfg(test)]
mod tests;
