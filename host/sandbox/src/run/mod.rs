//! Run: one execution of one script in one fresh instance.
//!
//! - `drive`: executes a program: instantiates, calls, watches the clock, reports
//! - `state`: store data of a run: limits, events, the program
//! - `entry`: the engine's entry point, with its types
//! - `nested`: runs inside another run's handler
//! - `outcome`: the report of a run
//! - [`stack`]: parser of the engine's stack traces
//! - `trap`: traps as limits or engine faults
//! - [`answer_queue`]: delivery of answers to the script, one at a time
//! - `wasi`: WASI context of foreign components (feature `wasi`)

pub mod answer_queue;
mod drive;
mod entry;
mod nested;
mod outcome;
pub mod stack;
mod state;
mod trap;
#[cfg_attr(not(feature = "wasi"), path = "no_wasi.rs")]
mod wasi;

pub use drive::{Run, RunOptions, RunStatus};
pub(crate) use drive::{execute, watched};
pub use entry::{Entry, Purpose, RUNNER};
pub use nested::{in_own_task, run};
pub use outcome::{Ending, RunReport};
pub use state::{EngineState, State};
pub use wasi::Wasi;
