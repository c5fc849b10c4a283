//! One execution of one script in one fresh instance.
//!
//! - [`state`]: what the store of a run holds: caps, events, modules.
//! - [`drive`]: from a program to a report: instantiate, call, watch the clock.
//! - [`cancel`]: ending a run from outside.
//! - [`clock`]: how long it has been going; [`context`]: what the steps before a provider know of it.
//! - [`entry`]: the engine's entry point, with its types.
//! - [`nested`]: a run inside another run's handler.
//! - [`outcome`]: what came of it, in words.
//! - [`scope`]: what a provider keeps for one run.
//! - [`stack`]: stacks as the script's author wrote it.

mod cancel;
mod clock;
mod context;
mod drive;
mod entry;
mod misnamed;
mod nested;
mod outcome;
mod scope;
mod stack;
mod state;

pub use cancel::CancelHandle;
pub(crate) use clock::Held;
pub use context::Caller;
pub(crate) use context::RunContext;
#[cfg(feature = "compiler")]
pub(crate) use drive::take_snapshot;
pub use drive::{Run, RunOptions, RunStatus};
pub(crate) use entry::Entry;
pub(crate) use nested::run;
pub use outcome::{ConsoleLine, RunReport};
pub use scope::RunScope;
pub(crate) use state::State;
