//! Tenants of the configuration, and places of runs.

use crate::commands::config_choice::ConfigChoice;
use crate::commands::folders;
use crate::commands::space_choice::SpaceChoice;
use agent_spaces::config::{Serve, Tenant};
use agent_spaces::rest::{Quotas, Tenants};

/// Shares of callers in what a server has.
pub(super) struct Shares {
    /// Tenants; none until the configuration is accepted, which has no callers before.
    pub(super) tenants: Tenants,
    /// Runs of all callers in memory at once.
    pub(super) places: usize,
}

impl Shares {
    /// Reads them before the project is loaded.
    pub(super) fn of(choice: &SpaceChoice) -> Shares {
        let (config, is_accepted) = choice.configuration().and_then(ConfigChoice::peek).unwrap_or_default();
        let most = usize::try_from(folders::MAX_RUNS).unwrap_or(usize::MAX);
        let places = config.serve.concurrency.all.map_or(most, usize::from);
        match is_accepted {
            true => Shares { tenants: tenants(&config.serve), places },
            false => Shares { tenants: Tenants::default(), places: places.min(most) },
        }
    }

    /// Returns how many runs the engine needs room for: one in each place, or as many as otherwise.
    pub(super) fn max_runs(&self) -> u32 {
        u32::try_from(self.places).map_or(folders::MAX_RUNS, |places| places.max(folders::MAX_RUNS))
    }
}

fn tenants(serve: &Serve) -> Tenants {
    let tenant = |(name, tenant): (&String, &Tenant)| {
        let members = serve.callers.iter().filter(|(_, caller)| caller.tenant.as_ref() == Some(name));
        (name.clone(), quotas(tenant), members.map(|(caller, _)| caller.clone()).collect::<Vec<String>>())
    };
    Tenants::new(serve.tenants.iter().map(tenant).collect::<Vec<_>>())
}

fn quotas(tenant: &Tenant) -> Quotas {
    let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    Quotas {
        runs: tenant.runs.map(count),
        fuel_per_hour: tenant.fuel_per_hour,
        memory_per_hour: tenant.memory_per_hour,
        calls_per_hour: tenant.calls_per_hour,
        spaces: tenant.spaces.map(count),
        storage: tenant.storage,
    }
}

#[cfg(test)]
mod tests {
    use super::Shares;
    use crate::commands::folders::MAX_RUNS;
    use agent_spaces::rest::Tenants;

    #[test]
    fn the_engine_has_room_for_a_run_in_each_place() {
        let max_runs = |places| Shares { tenants: Tenants::default(), places }.max_runs();
        assert_eq!((max_runs(1_000), max_runs(10)), (1_000, MAX_RUNS));
    }
}
