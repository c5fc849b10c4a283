//! Resource limits in requests: numbers, each at most that of the space.

use crate::problem::Problem;
use agent_spaces_types::limits::Limits;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;

/// Resource limits of a run. A member that is missing keeps the limit of the space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Limits)]
pub(crate) struct RunLimits {
    /// Fuel: some units for each step of a script and each turn of a loop in the engine.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) fuel: Option<u64>,
    /// Linear memory.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) memory_bytes: Option<u64>,
    /// Wall-clock time, without the time that people take to decide.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) time_ms: Option<u64>,
    /// Calls of capability functions.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub(crate) calls: Option<u64>,
    /// Concurrent calls.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) inflight: Option<u64>,
    /// Size of the result.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) result_bytes: Option<u64>,
    /// Size of the console output.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) console_bytes: Option<u64>,
    /// Size of one call's arguments, or of its answer.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) bytes_per_call: Option<u64>,
    /// Consecutive failed calls.
    #[serde(default, deserialize_with = "crate::body::optional_whole", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(crate) failures: Option<u64>,
}

impl RunLimits {
    /// Returns limits as numbers.
    pub(crate) fn of(limits: &Limits) -> RunLimits {
        RunLimits {
            fuel: Some(limits.fuel),
            memory_bytes: Some(limits.memory),
            time_ms: Some(u64::try_from(limits.time.as_millis()).unwrap_or(u64::MAX)),
            calls: Some(limits.calls),
            inflight: Some(limits.in_flight),
            result_bytes: Some(limits.result),
            console_bytes: Some(limits.console),
            bytes_per_call: Some(limits.call_bytes),
            // By default there is no such limit, and few programs can read that number.
            failures: Some(limits.failures).filter(|failures| *failures < u64::MAX),
        }
    }

    /// Lowers limits to these. `longest` is the longest time that may be asked for.
    pub(crate) fn within(&self, given: &Limits, longest: Duration) -> Result<Limits, Problem> {
        let mut limits = given.clone();
        let amounts = [
            ("fuel", self.fuel, &mut limits.fuel, 1),
            ("memoryBytes", self.memory_bytes, &mut limits.memory, 1),
            ("calls", self.calls, &mut limits.calls, 0),
            ("inflight", self.inflight, &mut limits.in_flight, 1),
            ("resultBytes", self.result_bytes, &mut limits.result, 1),
            ("consoleBytes", self.console_bytes, &mut limits.console, 1),
            ("bytesPerCall", self.bytes_per_call, &mut limits.call_bytes, 1),
            ("failures", self.failures, &mut limits.failures, 1),
        ];
        for (name, asked, slot, least) in amounts {
            let Some(asked) = asked else { continue };
            check(name, asked, least, *slot)?;
            *slot = asked;
        }
        if let Some(asked) = self.time_ms {
            let most = u64::try_from(longest.max(given.time).as_millis()).unwrap_or(u64::MAX);
            check("timeMs", asked, 1, most)?;
            limits.time = Duration::from_millis(asked);
        }
        Ok(limits)
    }
}

/// Refuses a limit outside its bounds.
fn check(name: &str, asked: u64, least: u64, most: u64) -> Result<(), Problem> {
    match asked {
        asked if asked < least => {
            Err(Problem::invalid(format!("/limits/{name}"), format!("expected at least {least}")))
        }
        asked if asked > most => {
            Err(Problem::denied("space.denied", format!("/limits/{name}: at most {most} is given to this space")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::RunLimits;
    use agent_spaces_types::limits::Limits;
    use std::time::Duration;

    #[test]
    fn limits_are_lowered_and_never_raised() {
        let given = Limits::default();
        let longest = given.time * 2;
        let asked = RunLimits { fuel: Some(5), calls: Some(0), ..RunLimits::default() };
        let limits = asked.within(&given, longest).unwrap();
        assert_eq!((limits.fuel, limits.calls, limits.memory), (5, 0, given.memory));
        assert_eq!(RunLimits::of(&given).within(&given, longest).unwrap(), given);
        for wrong in [
            RunLimits { fuel: Some(0), ..RunLimits::default() },
            RunLimits { memory_bytes: Some(given.memory + 1), ..RunLimits::default() },
            RunLimits { time_ms: Some(u64::MAX), ..RunLimits::default() },
        ] {
            assert!(wrong.within(&given, longest).is_err(), "{wrong:?}");
        }
        let longer = RunLimits { time_ms: Some(u64::try_from(longest.as_millis()).unwrap()), ..RunLimits::default() };
        assert_eq!(
            longer.within(&given, longest).unwrap().time,
            Duration::from_millis(u64::try_from(longest.as_millis()).unwrap())
        );
    }
}
