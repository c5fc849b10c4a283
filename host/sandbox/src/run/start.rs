//! Start of a program's runs.

use super::drive::run;
use super::handle::Run;
use super::options::RunOptions;
use super::report::RunReport;
use crate::program::Program;

impl Program {
    /// Runs the program to its end.
    ///
    /// Calls that TypeScript handlers or scripts answer are runs too, each in a task of its own. Within a tokio task
    /// they stay on the same thread; within `block_on`, as in the body of `#[tokio::main]`, each switches threads
    /// twice.
    pub async fn run(&self, options: RunOptions) -> RunReport {
        run(self, options).await
    }

    /// Starts a run as a task of the current tokio runtime. Its events go to the [`Run`], whatever the options say.
    pub fn start(&self, options: RunOptions) -> Run {
        Run::start(self.clone(), options)
    }
}
