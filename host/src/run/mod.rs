//! One execution of one script in one fresh instance.
//!
//! - [`state`]: what the store of a run holds: caps, events, modules.
//! - [`drive`]: from a program to a report: instantiate, call, watch the clock.
//! - [`again`]: scripts that are run often are compiled once; [`keep`]: when, and how.
//! - [`taking`]: runs that are for the engine's memory, which is [`taken`].
//! - [`cancel`]: ending a run from outside.
//! - [`clock`]: how long it has been going; [`context`]: what the steps before a provider know of it.
//! - [`entry`]: the engine's entry point, with its types.
//! - [`nested`]: a run inside another run's handler.
//! - [`outcome`]: what came of it, in words.
//! - [`parent`]: the call of another run that it answers.
//! - [`scope`]: what a provider keeps for one run.
//! - [`stack`]: stacks as the script's author wrote it.
//! - [`misnamed`], [`absent_member`]: what was probably meant where a script uses what is not there.
//! - [`trap`]: what a trap means: a limit, or a fault of the engine.
//! - [`turnstile`]: answers, given to the script one at a time.

mod absent_member;
mod again;
mod cancel;
mod clock;
mod context;
mod drive;
mod entry;
#[cfg(feature = "compiler")]
mod imports;
#[cfg(feature = "compiler")]
mod keep;
mod misnamed;
mod nested;
mod outcome;
mod parent;
mod scope;
mod stack;
mod state;
#[cfg(feature = "compiler")]
mod taken;
#[cfg(feature = "compiler")]
mod taking;
mod trap;
pub(crate) mod turnstile;
#[cfg(feature = "compiler")]
mod wasi;

pub(crate) use again::{Again, Agains, Compiled};
pub use cancel::CancelHandle;
pub(crate) use clock::{Held, RunClock};
pub use context::Caller;
pub(crate) use context::RunContext;
pub use drive::{Run, RunOptions, RunStatus};
pub(crate) use entry::Entry;
#[cfg(feature = "compiler")]
pub(crate) use entry::RUNNER;
#[cfg(feature = "compiler")]
pub(crate) use nested::apart;
pub(crate) use nested::run;
#[cfg(feature = "compiler")]
pub(crate) use outcome::Ending;
pub use outcome::{ConsoleLine, RunReport};
pub(crate) use parent::AnsweringScript;
pub use parent::ParentCall;
pub use scope::RunScope;
pub(crate) use state::State;
#[cfg(feature = "compiler")]
pub(crate) use state::Taken;
#[cfg(feature = "compiler")]
pub(crate) use taken::Memory;
#[cfg(feature = "compiler")]
pub(crate) use taking::{Came, take_snapshot};
#[cfg(feature = "compiler")]
pub(crate) use wasi::Wasi;
