//! Shared fixtures.

mod ended;
mod example;
mod home;
mod person;
mod piped;

pub(crate) use ended::Ended;
pub(crate) use example::{CRM, Example, FILE_SYSTEM, both};
pub(crate) use home::{Home, finish};
pub(crate) use person::{PROMPT, Person};
pub(crate) use piped::Piped;

use std::time::{Duration, Instant};

/// Timeout of tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again until there is an answer.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
