//! Quotas, and the problems of whoever exceeds one.

use super::Used;
use crate::problem::Problem;

/// Seconds of an hour.
const HOUR: u64 = 60 * 60;

/// Quotas of a tenant; `None` for no quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Runs in memory at once, on all hosts; others are queued.
    pub runs: Option<usize>,
    /// Fuel that its runs use in an hour.
    pub fuel_per_hour: Option<u64>,
    /// Memory that its runs hold on average over an hour, in bytes.
    pub memory_per_hour: Option<u64>,
    /// Calls of capability functions in an hour.
    pub calls_per_hour: Option<u64>,
    /// Spaces that its callers made.
    pub spaces: Option<usize>,
    /// Files of those spaces, in bytes.
    pub storage: Option<u64>,
}

/// Quota that may be used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quota {
    Fuel,
    Memory,
    Calls,
    Spaces,
    Storage,
}

impl Quotas {
    /// Returns true if one of them is by the hour.
    pub(crate) fn has_hourly(&self) -> bool {
        self.fuel_per_hour.is_some() || self.memory_per_hour.is_some() || self.calls_per_hour.is_some()
    }

    /// Returns a quota by the hour that is used up.
    pub(crate) fn used_up(&self, used: &Used) -> Option<Quota> {
        let byte_seconds = self.memory_per_hour.map(|bytes| bytes.saturating_mul(HOUR));
        let hourly = [
            (Quota::Fuel, used.fuel, self.fuel_per_hour),
            (Quota::Memory, used.byte_seconds, byte_seconds),
            (Quota::Calls, used.calls, self.calls_per_hour),
        ];
        let is_used_up = |(_, used, most): &(Quota, u64, Option<u64>)| most.is_some_and(|most| *used >= most);
        hourly.into_iter().find(is_used_up).map(|(quota, ..)| quota)
    }

    /// Returns a quota as the configuration has it.
    fn configured(&self, quota: Quota) -> u64 {
        let count = |count: Option<usize>| count.and_then(|count| u64::try_from(count).ok());
        let configured = match quota {
            Quota::Fuel => self.fuel_per_hour,
            Quota::Memory => self.memory_per_hour,
            Quota::Calls => self.calls_per_hour,
            Quota::Spaces => count(self.spaces),
            Quota::Storage => self.storage,
        };
        configured.unwrap_or_default()
    }
}

impl Quota {
    /// Returns its key in the configuration.
    fn key(self) -> &'static str {
        match self {
            Quota::Fuel => "fuelPerHour",
            Quota::Memory => "memoryPerHour",
            Quota::Calls => "callsPerHour",
            Quota::Spaces => "spaces",
            Quota::Storage => "storage",
        }
    }

    /// Returns the code of its problem.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Quota::Fuel => "quota.fuel",
            Quota::Memory => "quota.memory",
            Quota::Calls => "quota.calls",
            Quota::Spaces => "quota.spaces",
            Quota::Storage => "quota.storage",
        }
    }

    /// Returns what a tenant is told that has used it up. `seconds` are left of the hour.
    pub(crate) fn detail(self, tenant: &str, quotas: &Quotas, seconds: u32) -> String {
        let (key, most) = (self.key(), quotas.configured(self));
        let way_out = match self {
            Quota::Spaces => "delete spaces".to_owned(),
            Quota::Storage => "delete files".to_owned(),
            Quota::Fuel | Quota::Memory | Quota::Calls => format!("try again in {seconds} seconds"),
        };
        format!(
            "The tenant `{tenant}` has used up its quota `{key}` of {most}: {way_out}, or ask the operator to raise \
             `serve.tenants.{tenant}.{key}`"
        )
    }

    /// Creates the problem of a tenant that has used it up. `seconds` are left of the hour.
    pub(crate) fn problem(self, tenant: &str, quotas: &Quotas, seconds: u32) -> Problem {
        let detail = self.detail(tenant, quotas, seconds);
        match self {
            // Waiting does not help.
            Quota::Spaces | Quota::Storage => Problem::denied(self.code(), detail),
            Quota::Fuel | Quota::Memory | Quota::Calls => Problem::busy(self.code(), detail).after(seconds.max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Quota, Quotas};
    use crate::tenants::Used;
    use axum::response::IntoResponse;

    #[test]
    fn the_quota_that_is_used_up_is_named() {
        let quotas = Quotas { memory_per_hour: Some(10), calls_per_hour: Some(3), ..Quotas::default() };
        assert!(quotas.has_hourly() && !Quotas { runs: Some(1), spaces: Some(1), ..Quotas::default() }.has_hourly());
        let used = |byte_seconds, calls| quotas.used_up(&Used { fuel: u64::MAX, byte_seconds, calls });
        assert_eq!(used(35_999, 2), None, "there is no quota of fuel");
        assert_eq!((used(36_000, 2), used(0, 3)), (Some(Quota::Memory), Some(Quota::Calls)));
        let without = Quotas { memory_per_hour: Some(u64::MAX), ..Quotas::default() };
        assert_eq!(without.used_up(&Used { byte_seconds: 1 << 60, ..Used::default() }), None);
    }

    #[test]
    fn a_problem_says_which_quota_it_is_and_what_to_do() {
        let quotas = Quotas { calls_per_hour: Some(3), storage: Some(5), spaces: Some(2), ..Quotas::default() };
        let calls = Quota::Calls.problem("acme", &quotas, 90);
        let json = serde_json::to_value(&calls).unwrap();
        assert_eq!((&json["status"], &json["code"]), (&429.into(), &"quota.calls".into()));
        let detail = json["detail"].as_str().unwrap();
        assert!(detail.contains("of 3") && detail.contains("90 seconds"), "{detail}");
        assert!(detail.contains("`serve.tenants.acme.callsPerHour`"), "{detail}");
        assert_eq!(calls.into_response().headers()["retry-after"], "90");
        for (quota, code) in [(Quota::Spaces, "quota.spaces"), (Quota::Storage, "quota.storage")] {
            let problem = quota.problem("acme", &quotas, 90);
            assert_eq!(problem.code(), code);
            let response = problem.into_response();
            assert_eq!(response.status(), 403);
            assert!(!response.headers().contains_key("retry-after"), "waiting does not help");
        }
    }
}
