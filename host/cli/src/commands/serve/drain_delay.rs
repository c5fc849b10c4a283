//! Time between a signal and the shutdown, for load balancers.

use crate::commands::failure::Failure;
use crate::commands::{terminal, units};
use agent_spaces::Code;
use clap::Args;
use std::time::Duration;

/// Environment variable of the delay.
const VARIABLE: &str = "AGENT_SPACES_DRAIN_DELAY";

/// Longest delay: a supervisor kills the process long before.
const MAX_DELAY: Duration = Duration::from_secs(60 * 60);

/// Flag of the delay.
#[derive(Args)]
pub(super) struct DrainDelay {
    /// After SIGTERM, time for which /ready answers 503 while requests are still served, so that load balancers notice;
    /// a second signal ends it [default: the variable AGENT_SPACES_DRAIN_DELAY, else 0s]
    #[arg(long, value_name = "DURATION", value_parser = delay)]
    drain_delay: Option<Duration>,
}

impl DrainDelay {
    /// Returns the delay of the flag, else of the environment, else zero.
    pub(super) fn resolve(&self) -> Result<Duration, Failure> {
        match self.drain_delay {
            Some(delay) => Ok(delay),
            None => of_variable(std::env::var(VARIABLE).ok().as_deref()),
        }
    }
}

fn of_variable(text: Option<&str>) -> Result<Duration, Failure> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(Duration::ZERO) };
    delay(text).map_err(|error| {
        let message = format!("{VARIABLE}: `{}`: {error}", terminal::clean_line(text));
        Failure::new(Code::ConfigVariable, message, Some("set it to a duration such as 10s"))
    })
}

/// Parses a delay.
fn delay(text: &str) -> Result<Duration, String> {
    let delay = units::age(text)?;
    if delay > MAX_DELAY { Err("expected at most 1h".to_owned()) } else { Ok(delay) }
}

#[cfg(test)]
mod tests {
    use super::{MAX_DELAY, of_variable};
    use std::time::Duration;

    #[test]
    fn the_variable_is_a_bounded_duration_or_missing() {
        let read = |text| of_variable(text).ok();
        assert_eq!((read(None), read(Some(" "))), (Some(Duration::ZERO), Some(Duration::ZERO)));
        assert_eq!((read(Some("0s")), read(Some(" 10s "))), (Some(Duration::ZERO), Some(Duration::from_secs(10))));
        assert_eq!((read(Some("1h")), read(Some("61min"))), (Some(MAX_DELAY), None));
        assert_eq!((read(Some("soon")), read(Some("-1s"))), (None, None));
    }
}
