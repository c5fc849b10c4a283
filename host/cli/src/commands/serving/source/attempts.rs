//! Discovery state: servers whose tools are not known yet, and the backoff of those that failed.

use super::{Source, UndiscoveredServer};
use crate::commands::space_choice::Found;
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces::project::SpaceModules;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Backoff after the first, second and further failures of a server; the last one repeats.
const BACK_OFF: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(2 * 60), Duration::from_secs(10 * 60)];

/// Discovery attempts of a server.
#[derive(Default)]
pub(super) struct Attempts {
    failures: usize,
    /// Reason of the last failure, in words for agents, and the time of the next attempt. `None` during an attempt.
    pub(super) failed: Option<(String, Instant)>,
}

impl Source {
    /// Replaces the undiscovered servers by those of the served space and of the spaces beside it.
    pub(super) fn update_undiscovered(&self, found: &Found, modules: &SpaceModules<'_>) {
        let mut undiscovered = startable(modules);
        let apart = self.apart.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for space in &apart {
            // A space that is gone has no servers.
            let Ok(modules) = self.choice.with(Some(space), None).modules(found) else { continue };
            let is_new = |server: &UndiscoveredServer| undiscovered.iter().all(|known| known.name != server.name);
            let new: Vec<UndiscoveredServer> = startable(&modules).into_iter().filter(is_new).collect();
            undiscovered.extend(new);
        }
        // A server that is removed and added again starts without a backoff.
        self.attempts().retain(|name, _| undiscovered.iter().any(|server| server.name == *name));
        *self.undiscovered.lock().unwrap_or_else(PoisonError::into_inner) = undiscovered;
    }

    /// Returns true if the backoff of a server has passed, or a reload is pending.
    pub(in crate::commands) fn has_due(&self) -> bool {
        let now = Instant::now();
        let is_due = |attempt: &Attempts| attempt.failed.as_ref().is_some_and(|(_, again)| *again <= now);
        self.is_stale.load(Ordering::Relaxed) || self.attempts().values().any(is_due)
    }

    /// Returns true if servers have not answered yet.
    pub(in crate::commands) fn is_discovering(&self) -> bool {
        let undiscovered = self.undiscovered.lock().unwrap_or_else(PoisonError::into_inner);
        let attempts = self.attempts();
        let is_asked =
            |server: &UndiscoveredServer| attempts.get(&server.name).is_none_or(|attempt| attempt.failed.is_none());
        undiscovered.iter().any(is_asked)
    }

    /// Returns the servers to ask now, and marks them as asked.
    pub(in crate::commands) fn due(&self) -> Vec<UndiscoveredServer> {
        let undiscovered = self.undiscovered.lock().unwrap_or_else(PoisonError::into_inner);
        let mut attempts = self.attempts();
        let now = Instant::now();
        let is_due = |server: &&UndiscoveredServer| match attempts.get_mut(&server.name) {
            Some(attempt) => attempt.failed.take_if(|(_, again)| *again <= now).is_some(),
            None => attempts.insert(server.name.clone(), Attempts::default()).is_none(),
        };
        undiscovered.iter().filter(is_due).cloned().collect()
    }

    /// Returns the enabled MCP servers, and whether each is up: it may be started, its lock entry is of its command or
    /// address, and the last attempt to list its tools succeeded or none was needed.
    pub(in crate::commands) fn health(&self) -> Vec<(String, bool)> {
        let loaded = self.loaded();
        let Some(project) = loaded.project() else { return Vec::new() };
        let attempts = self.attempts();
        let is_up = |server: &ConfiguredServer| {
            let accepted = project.lock().servers.get(&server.name);
            server.obstacle().is_none()
                && accepted.is_none_or(|accepted| !server.differs_from(accepted))
                && attempts.get(&server.name).is_none_or(|attempt| attempt.failed.is_none())
        };
        let enabled = project.servers().values().filter(|server| server.config.enabled);
        enabled.map(|server| (server.name.clone(), is_up(server))).collect()
    }

    /// Returns why the last attempt to list the tools of a server failed, in words for agents.
    pub(in crate::commands) fn discovery_failure(&self, server: &str) -> Option<String> {
        let attempts = self.attempts();
        attempts.get(server)?.failed.as_ref().map(|(why, _)| why.clone())
    }

    /// Records a failed attempt.
    pub(in crate::commands) fn note_failure(&self, server: &str, why: String) {
        let mut attempts = self.attempts();
        let attempt = attempts.entry(server.to_owned()).or_default();
        attempt.failed = Some((why, Instant::now() + back_off(attempt.failures)));
        attempt.failures += 1;
    }

    /// Locks the discovery attempts.
    pub(super) fn attempts(&self) -> MutexGuard<'_, BTreeMap<String, Attempts>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the undiscovered servers of a space that may be started.
fn startable(modules: &SpaceModules<'_>) -> Vec<UndiscoveredServer> {
    let startable = modules.undiscovered.iter().filter(|server| server.obstacle().is_none());
    startable.map(|server| UndiscoveredServer::clone(server)).collect()
}

/// Returns the backoff after this many earlier failures.
fn back_off(failures: usize) -> Duration {
    BACK_OFF.get(failures).or(BACK_OFF.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{BACK_OFF, back_off};

    #[test]
    fn backoff_grows_and_never_ends() {
        let times: Vec<_> = (0..6).map(back_off).collect();
        assert!(times.is_sorted() && times[0] == BACK_OFF[0] && times[5] == BACK_OFF[3], "{times:?}");
    }
}
