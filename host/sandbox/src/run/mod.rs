//! Run: one execution of a program, from its slot to its report.
//!
//! - `options`: the options of a run
//! - `start`: the methods of a program that start runs
//! - `drive`: waits for a slot, executes the program, returns the report; `durable`: endings of durable runs
//! - `handle`: a run that executes in a task of its own
//! - `report`: the report of a run

mod drive;
mod durable;
mod handle;
mod options;
mod report;
mod start;

pub use handle::{Run, RunStatus};
pub use options::RunOptions;
pub use report::RunReport;
