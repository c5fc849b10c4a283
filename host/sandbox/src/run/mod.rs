//! Run: one execution of a program, from its slot to its report.
//!
//! - `start`: the methods of a program that start runs
//! - `drive`: waits for a slot, executes the program, reports; `durable`: endings of durable runs
//! - `handle`: a run that executes in a task of its own
//! - `report`: the report of a run

mod drive;
mod durable;
mod handle;
mod report;
mod start;

pub use drive::RunOptions;
pub use handle::{Run, RunStatus};
pub use report::RunReport;
