//! Resource limits of runs in a space.
//!
//! A configuration that was not accepted may lower the default limits, and cannot raise them.

use super::Project;
use agent_spaces_config as config;
use agent_spaces_policy::Policy;
use agent_spaces_types::limits::Limits;
use std::time::Duration;

impl Project {
    /// Resource limits of a run in a space: the space's own over the global ones.
    pub fn limits(&self, space: Option<&str>) -> Limits {
        let limits = self.limits_with(space, &Policy::new(self.policy(space)));
        if self.is_accepted() { limits } else { limits.at_most(&Limits::default()) }
    }

    /// Time limit of a run in a space, if the configuration or a policy preset sets one.
    pub fn time_limit(&self, space: Option<&str>) -> Option<Duration> {
        let preset = Policy::new(self.policy(space)).limits();
        (self.written_limits(space).time.is_some() || preset.is_some()).then(|| self.limits(space).time)
    }

    /// Note for the operator about limits and rules that have no effect because the configuration was not accepted.
    pub fn raised_note(&self, space: Option<&str>) -> Option<String> {
        if self.is_accepted() {
            return None;
        }
        let written = self.written_policy(space);
        let raised = raised(&self.limits_with(space, &Policy::new(written.clone())), &Limits::default());
        let raised = raised.into_iter().map(|key| format!("`limits.{key}`"));
        let ignored: Vec<String> = raised.chain(written.loosening()).collect();
        (!ignored.is_empty()).then(|| {
            let (file, ignored) = (&self.config().file, ignored.join(", "));
            format!(
                "{file} is not accepted, so settings beyond the defaults are ignored: {ignored}; read it, then run \
                 `agent-spaces trust {file}`"
            )
        })
    }

    /// Limits as written, over those of a policy's preset.
    fn limits_with(&self, space: Option<&str>, policy: &Policy) -> Limits {
        let mut given = Limits::default();
        if let Some(preset) = policy.limits() {
            (given.time, given.memory, given.calls) = (preset.time, preset.memory, preset.calls);
        }
        self.written_limits(space).apply(given)
    }

    fn written_limits(&self, space: Option<&str>) -> config::Limits {
        space.map_or(self.config().limits, |space| self.config().limits_of(space))
    }
}

/// Configuration keys of the limits that are higher than `usual`.
pub(super) fn raised(limits: &Limits, usual: &Limits) -> Vec<&'static str> {
    let all = [
        ("fuel", limits.fuel > usual.fuel),
        ("memory", limits.memory > usual.memory),
        ("time", limits.time > usual.time),
        ("resultBytes", limits.result > usual.result),
        ("consoleBytes", limits.console > usual.console),
        ("calls", limits.calls > usual.calls),
        ("inflight", limits.in_flight > usual.in_flight),
        ("bytesPerCall", limits.call_bytes > usual.call_bytes),
        ("failures", limits.failures > usual.failures),
        ("sourceBytes", limits.source > usual.source),
    ];
    all.into_iter().filter(|(_, is_raised)| *is_raised).map(|(key, _)| key).collect()
}
