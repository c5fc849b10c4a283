//! Durable run settings (`durable`).

use super::quantity::{read_age, read_bytes, read_duration};
use super::reader::{Node, Result};
use serde_json::Value;
use std::time::Duration;

/// Minimum and maximum lease: a shorter one expires while its owner waits for the disk, and a longer one keeps the runs
/// of a stopped host from others.
const LEASE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60 * 60));

/// Minimum and maximum size of the journal: the engine and a few runs must fit.
const MAX_BYTES: (u64, u64) = (64 << 20, 1 << 50);

/// Settings of durable runs. A setting that is `None` is that of the configuration, or the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durable {
    /// True if runs are durable without being asked to.
    pub enabled: Option<bool>,
    /// Time after which a waiting run leaves memory.
    pub park_after: Option<Duration>,
    /// Fate of calls in doubt.
    pub in_doubt: Option<InDoubtSetting>,
    /// Time after which another host may continue a run whose owner is silent.
    pub lease: Option<Duration>,
    /// Time for which ended runs are kept.
    pub keep_for: Option<Duration>,
    /// Maximum size of the journal, in bytes.
    pub max_bytes: Option<u64>,
}

/// Fate of a call that was sent and not answered when its host died, and that may not be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InDoubtSetting {
    /// The run waits until a person says what happened.
    Ask,
    /// The call fails with `call.in_doubt`.
    Reject,
}

const IN_DOUBT: [(&str, InDoubtSetting); 2] = [("ask", InDoubtSetting::Ask), ("reject", InDoubtSetting::Reject)];

impl Durable {
    pub(super) fn read(node: Node<'_>) -> Result<Durable> {
        if let Value::Bool(is_on) = node.value {
            return Ok(Durable { enabled: Some(*is_on), ..Durable::default() });
        }
        let keys = ["parkAfter", "inDoubt", "lease", "keepFor", "maxBytes"];
        let object = node.object("`true`, `false`, or an object of settings", &keys)?;
        Ok(Durable {
            enabled: Some(true),
            park_after: object.read("parkAfter", read_duration)?,
            in_doubt: object.read("inDoubt", |node| node.choice("fate of calls in doubt", &IN_DOUBT))?,
            lease: object.read("lease", read_lease)?,
            keep_for: object.read("keepFor", read_age)?,
            max_bytes: object.read("maxBytes", |node| read_bytes(node, MAX_BYTES.0, MAX_BYTES.1))?,
        })
    }

    /// Returns these settings over others.
    pub(super) fn over(&self, other: &Durable) -> Durable {
        Durable {
            enabled: self.enabled.or(other.enabled),
            park_after: self.park_after.or(other.park_after),
            in_doubt: self.in_doubt.or(other.in_doubt),
            lease: self.lease.or(other.lease),
            keep_for: self.keep_for.or(other.keep_for),
            max_bytes: self.max_bytes.or(other.max_bytes),
        }
    }
}

fn read_lease(node: Node<'_>) -> Result<Duration> {
    let lease = read_duration(node)?;
    match (LEASE.0..=LEASE.1).contains(&lease) {
        true => Ok(lease),
        false => Err(node.error("the lease must be between 1 second and 1 hour")),
    }
}

#[cfg(test)]
mod tests {
    use crate::durable::{Durable, InDoubtSetting};
    use crate::from_value;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn read(durable: Value) -> Result<Durable, String> {
        let config = from_value("f", json!({ "durable": durable }));
        config.map(|config| config.durable).map_err(|error| error.to_string())
    }

    #[test]
    fn a_boolean_or_an_object_switches_durable_runs() {
        assert_eq!(read(json!(true)).unwrap().enabled, Some(true));
        assert_eq!(read(json!(false)).unwrap().enabled, Some(false));
        assert_eq!(read(json!({})).unwrap(), Durable { enabled: Some(true), ..Durable::default() });
        assert_eq!(from_value("f", json!({})).unwrap().durable, Durable::default());
        let all = json!({
            "parkAfter": "1min", "inDoubt": "reject", "lease": 10, "keepFor": "90d", "maxBytes": "1GiB"
        });
        let settings = Durable {
            enabled: Some(true),
            park_after: Some(Duration::from_secs(60)),
            in_doubt: Some(InDoubtSetting::Reject),
            lease: Some(Duration::from_secs(10)),
            keep_for: Some(Duration::from_secs(90 * 24 * 60 * 60)),
            max_bytes: Some(1 << 30),
        };
        assert_eq!(read(all), Ok(settings));
    }

    #[test]
    fn invalid_settings_are_refused_with_their_path() {
        assert_eq!(
            read(json!({ "inDoubt": "rejct" })).unwrap_err(),
            "f: $.durable.inDoubt: unknown fate of calls in doubt `rejct`; did you mean `reject`?"
        );
        for wrong in [
            json!("yes"),
            json!(null),
            json!({ "enabled": true }),
            json!({ "parkAfter": 0 }),
            json!({ "parkAfter": "31d" }),
            json!({ "lease": "100ms" }),
            json!({ "lease": "2h" }),
            json!({ "keepFor": "11years" }),
            json!({ "maxBytes": "1MiB" }),
        ] {
            assert!(read(wrong.clone()).unwrap_err().contains("$.durable"), "{wrong}");
        }
    }

    #[test]
    fn settings_of_a_space_override_the_global_ones() {
        let value = json!({
            "durable": { "parkAfter": "5s", "keepFor": "1d" },
            "spaces": { "own": { "durable": { "parkAfter": "9s" } }, "off": { "durable": false }, "plain": {} },
        });
        let config = from_value("f", value).unwrap();
        let own = config.durable_of("own");
        assert_eq!((own.park_after, own.keep_for), (Some(Duration::from_secs(9)), config.durable.keep_for));
        assert_eq!((config.durable_of("off").enabled, config.durable_of("plain")), (Some(false), config.durable));
    }
}
