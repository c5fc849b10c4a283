//! Shared fixtures.

mod example;
mod home;
mod output;
mod piped_run;
mod terminal_user;

pub(crate) use example::{CRM, Example, FILE_SYSTEM, both};
pub(crate) use home::{Home, finish};
pub(crate) use output::RunOutput;
pub(crate) use piped_run::PipedRun;
pub(crate) use terminal_user::{PROMPT, TerminalUser};

use std::time::{Duration, Instant};

/// Timeout of tests.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Polls until there is a value; panics after the timeout.
pub(crate) fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
