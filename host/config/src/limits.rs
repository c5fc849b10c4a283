//! Resource limits of runs (`limits`).

use super::quantity::{Measure, Quantity};
use super::reader::{Node, Result};

/// Resource limits of a run; `None` keeps the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Fuel: a count.
    pub fuel: Option<Quantity>,
    /// Linear memory: bytes.
    pub memory: Option<Quantity>,
    /// Wall-clock time: a duration. Also spelled `timeout`.
    pub time: Option<Quantity>,
    /// Calls of capability functions: a count; zero forbids calls.
    pub calls: Option<Quantity>,
    /// Concurrent calls: a count.
    pub inflight: Option<Quantity>,
    /// Size of the result: bytes.
    pub result_bytes: Option<Quantity>,
    /// Size of the console output: bytes.
    pub console_bytes: Option<Quantity>,
    /// Size of one call's arguments, or of its answer: bytes.
    pub bytes_per_call: Option<Quantity>,
    /// Consecutive failed calls: a count.
    pub failures: Option<Quantity>,
    /// Size of a script with the files that it imports: bytes.
    pub source_bytes: Option<Quantity>,
}

const KEYS: &[&str] = &[
    "fuel",
    "memory",
    "time",
    "timeout",
    "calls",
    "inflight",
    "resultBytes",
    "consoleBytes",
    "bytesPerCall",
    "failures",
    "sourceBytes",
];

impl Limits {
    pub(super) fn read(node: Node<'_>) -> Result<Limits> {
        let object = node.object("an object of limits", KEYS)?;
        let amount = |key: &str, measure: Measure| object.read(key, |node| measure.read(node));
        let (time, timeout) = (amount("time", Measure::Duration)?, amount("timeout", Measure::Duration)?);
        if time.is_some() && timeout.is_some() {
            return Err(node.error("`time` and `timeout` are the same limit").with_fix("keep `time`"));
        }
        Ok(Limits {
            fuel: amount("fuel", Measure::Count)?,
            memory: amount("memory", Measure::Bytes)?,
            time: time.or(timeout),
            calls: amount("calls", Measure::CountOrNone)?,
            inflight: amount("inflight", Measure::Count)?,
            result_bytes: amount("resultBytes", Measure::Bytes)?,
            console_bytes: amount("consoleBytes", Measure::Bytes)?,
            bytes_per_call: amount("bytesPerCall", Measure::Bytes)?,
            failures: amount("failures", Measure::Count)?,
            source_bytes: amount("sourceBytes", Measure::Bytes)?,
        })
    }

    /// Overrides the given limits with those that are set.
    pub fn apply(&self, mut given: agent_spaces_types::limits::Limits) -> agent_spaces_types::limits::Limits {
        let amounts = [
            (&mut given.fuel, self.fuel),
            (&mut given.memory, self.memory),
            (&mut given.calls, self.calls),
            (&mut given.in_flight, self.inflight),
            (&mut given.result, self.result_bytes),
            (&mut given.console, self.console_bytes),
            (&mut given.call_bytes, self.bytes_per_call),
            (&mut given.failures, self.failures),
            (&mut given.source, self.source_bytes),
        ];
        for (slot, quantity) in amounts {
            if let Some(Quantity::Count(amount) | Quantity::Bytes(amount)) = quantity {
                *slot = amount;
            }
        }
        if let Some(Quantity::Duration(time)) = self.time {
            given.time = time;
        }
        given
    }

    /// Returns these limits, with those of `base` where they are not set.
    pub fn over(&self, base: &Limits) -> Limits {
        Limits {
            fuel: self.fuel.or(base.fuel),
            memory: self.memory.or(base.memory),
            time: self.time.or(base.time),
            calls: self.calls.or(base.calls),
            inflight: self.inflight.or(base.inflight),
            result_bytes: self.result_bytes.or(base.result_bytes),
            console_bytes: self.console_bytes.or(base.console_bytes),
            bytes_per_call: self.bytes_per_call.or(base.bytes_per_call),
            failures: self.failures.or(base.failures),
            source_bytes: self.source_bytes.or(base.source_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::{KEYS, Limits};
    use crate::{Quantity, from_value};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn read(limits: Value) -> Result<Limits, String> {
        let config = from_value("f", json!({ "limits": limits }));
        config.map(|config| config.limits).map_err(|error| error.to_string())
    }

    #[test]
    fn every_limit_is_read_into_its_own_field() {
        let limits = read(json!({
            "fuel": "1_000", "memory": "64MiB", "time": "5s", "calls": 3, "inflight": 4,
            "resultBytes": 5, "consoleBytes": "6kB", "bytesPerCall": 7, "failures": 8, "sourceBytes": 9
        }))
        .unwrap();
        let expected = Limits {
            fuel: Some(Quantity::Count(1000)),
            memory: Some(Quantity::Bytes(64 << 20)),
            time: Some(Quantity::Duration(Duration::from_secs(5))),
            calls: Some(Quantity::Count(3)),
            inflight: Some(Quantity::Count(4)),
            result_bytes: Some(Quantity::Bytes(5)),
            console_bytes: Some(Quantity::Bytes(6000)),
            bytes_per_call: Some(Quantity::Bytes(7)),
            failures: Some(Quantity::Count(8)),
            source_bytes: Some(Quantity::Bytes(9)),
        };
        assert_eq!(limits, expected);
        assert_eq!(read(json!({ "timeout": 5 })).unwrap().time, expected.time);
    }

    #[test]
    fn limits_are_overridden_field_by_field() {
        let all: Value = KEYS.iter().filter(|key| **key != "timeout").map(|key| (*key, 1)).collect();
        let base = read(all).unwrap();
        for key in KEYS {
            let own = read(json!({ *key: 2 })).unwrap();
            let both = own.over(&base);
            assert_ne!(both, base, "{key}");
            assert_eq!(base.over(&own), base, "{key}");
        }
        assert_eq!(Limits::default().over(&base), base);
    }

    #[test]
    fn invalid_limits_are_refused_with_their_path() {
        assert_eq!(
            read(json!({ "fule": 1 })).unwrap_err(),
            "f: $.limits.fule: unknown key `fule`; did you mean `fuel`?"
        );
        assert_eq!(
            read(json!({ "memory": [] })).unwrap_err(),
            "f: $.limits.memory: expected a size above zero, such as 65536 or \"64MiB\", found a list"
        );
        assert_eq!(
            read(json!({ "time": 5, "timeout": 6 })).unwrap_err(),
            "f: $.limits: `time` and `timeout` are the same limit; keep `time`"
        );
        for limits in [json!({ "fuel": -1 }), json!({ "fuel": 1.5 }), json!({ "inflight": 0 }), json!({ "fuel": null })]
        {
            assert!(read(limits.clone()).unwrap_err().starts_with("f: $.limits."), "{limits}");
        }
    }
}
