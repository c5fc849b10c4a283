//! Settings of durable runs in a space, and of the journal that keeps them.
//!
//! All projects of a user share one journal, so a configuration that was not accepted cannot shorten its retention.

use super::Project;
use agent_spaces_config::{InDoubtSetting, StoreAddress};
use agent_spaces_durable::{InDoubt, Settings};
use agent_spaces_journal::Prune;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Default time for which ended runs are kept: long enough to look into last month's failure.
const KEEP_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Settings of durable runs in a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableSettings {
    /// True if runs are durable without being asked to.
    pub is_default: bool,
    /// Settings of the runs.
    pub runs: Settings,
    /// Time for which ended runs are kept.
    pub keep_for: Duration,
    /// Maximum size of the journal, in bytes.
    pub max_bytes: u64,
    /// Address of the store, instead of the user's file.
    pub store: Option<StoreAddress>,
}

impl Default for DurableSettings {
    fn default() -> DurableSettings {
        DurableSettings {
            is_default: false,
            runs: Settings::default(),
            keep_for: KEEP_FOR,
            max_bytes: agent_spaces_journal::Settings::default().max_bytes,
            store: None,
        }
    }
}

impl DurableSettings {
    /// Returns the settings of the journal.
    pub fn journal(&self) -> agent_spaces_journal::Settings {
        agent_spaces_journal::Settings { max_bytes: self.max_bytes, ..agent_spaces_journal::Settings::default() }
    }

    /// Returns the retention of ended runs. A quarter of the journal stays free for the next ones.
    pub fn retention(&self) -> Prune {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Prune {
            older_than: Some(self.keep_for),
            max_bytes: Some(self.max_bytes - self.max_bytes / 4),
            now_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
        }
    }
}

impl Project {
    /// Settings of durable runs in a space: the space's own over the global ones.
    pub fn durable(&self, space: Option<&str>) -> DurableSettings {
        let written = space.map_or(self.config().durable, |space| self.config().durable_of(space));
        let default = DurableSettings::default();
        let in_doubt = match written.in_doubt {
            Some(InDoubtSetting::Ask) => InDoubt::Ask,
            Some(InDoubtSetting::Reject) => InDoubt::Reject,
            None => default.runs.in_doubt,
        };
        let is_accepted = self.is_accepted();
        DurableSettings {
            is_default: written.enabled.unwrap_or(default.is_default),
            runs: Settings {
                park_after: written.park_after.unwrap_or(default.runs.park_after),
                in_doubt,
                lease: written.lease.unwrap_or(default.runs.lease),
            },
            keep_for: written.keep_for.filter(|_| is_accepted).unwrap_or(default.keep_for),
            max_bytes: written.max_bytes.filter(|_| is_accepted).unwrap_or(default.max_bytes),
            store: self.config().store.clone().filter(|_| is_accepted),
        }
    }

    /// Digest of the policy of a space, to see whether it changed since a durable run started.
    pub fn policy_digest(&self, space: Option<&str>) -> String {
        self.policy(space).digest()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Project, Surroundings};
    use agent_spaces_durable::InDoubt;
    use agent_spaces_sandbox::engine::{Engine, EngineConfig};
    use std::time::Duration;

    #[test]
    fn a_configuration_that_is_not_accepted_does_not_shorten_retention() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent-spaces.config.json");
        let text = r#"{"durable": {"parkAfter": "2s", "inDoubt": "reject", "keepFor": "1s", "maxBytes": "64MiB"},
            "store": "postgres://h/d",
            "spaces": {"off": {"durable": false}}}"#;
        std::fs::write(&file, text).unwrap();
        let engine = Engine::new(EngineConfig::default()).unwrap();
        let project = Project::open_in(&file, &engine, &Surroundings::default()).unwrap();
        let durable = project.durable(None);
        assert!(durable.is_default && !project.durable(Some("off")).is_default);
        assert_eq!((durable.runs.park_after, durable.runs.in_doubt), (Duration::from_secs(2), InDoubt::Reject));
        assert_eq!((durable.keep_for.as_secs(), durable.max_bytes), (30 * 24 * 60 * 60, 4 << 30));
        assert_eq!(durable.store, None);
        let own = Surroundings { user_folder: Some(folder.path().to_owned()), ..Surroundings::default() };
        let durable = Project::open_in(&file, &engine, &own).unwrap().durable(None);
        assert_eq!((durable.keep_for, durable.max_bytes), (Duration::from_secs(1), 64 << 20));
        assert_eq!(durable.retention().max_bytes, Some(48 << 20));
        assert_eq!(durable.store.unwrap().as_str(), "postgres://h/d");
    }
}
