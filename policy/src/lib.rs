//! What a call may do: presets, rules over functions and their arguments, and rates.
//!
//! Pure decisions: nothing here calls anything, waits, or reads a configuration. The files that it touches hold how
//! often something was called.
//!
//! # Layout
//!
//! - `settings`, `rule`, `preset`: what an operator wrote, and the ready-made answers where nothing was written
//! - `policy`, `function`, `facts`: settings made into what holds in a space, and for one function of it
//! - `pattern`, `labels`, `decide`: which rules are about a function, whether that is one function, and which of them
//!   decides
//! - `tightened`: settings that may not loosen anything
//! - `argument/`: constraints on arguments, on one spelling of every text; paths that lead nowhere
//! - `counted`, `counts/`: how often something was called in a run, and in a day
//! - `rates`, `limiter`, `window`: how fast something may be called
//! - `middleware`: how calls are made once they may be
//! - `files`, `network` with `domains`: what the standard library may do
//! - `explain`, `refusal`, `unused`, `shown`: telling people

mod argument;
mod counted;
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
mod rates;
mod refusal;
mod rule;
mod settings;
mod shown;
mod tightened;
mod unused;
mod window;

pub use argument::{ArgumentPath, Constraint, ConstraintError, PathError, TextKind, TextPattern, TextPatternError};
pub use capability_gen::definition::{Period, RateLimit};
pub use capability_gen::identity::FunctionId;
pub use counts::{CountError, DayCounts, DayFile, DayMemory, RateFile, RunCounts, Taken, Wanted};
pub use decide::{Because, Decided};
pub use domains::{DomainError, DomainPattern};
pub use explain::{Explained, Explanation};
pub use facts::{Facts, Kind};
pub use files::FilePolicy;
pub use function::FunctionPolicy;
pub use labels::{AmbiguousRule, LabelledFunction};
pub use middleware::Middleware;
pub use network::{NetworkPolicy, NetworkRefusal};
pub use pattern::{Pattern, PatternError};
pub use policy::{ApprovalPolicy, Policy};
pub use preset::{Preset, PresetLimits};
pub use rates::{Rate, Wait};
pub use refusal::{Refusal, not_callable};
pub use rule::{Decision, Rule};
pub use settings::{ApprovalSettings, FileSettings, NetworkSettings, Settings};
pub use unused::{UnknownCapability, UnusedRule};

#[cfg(test)]
mod tests;
