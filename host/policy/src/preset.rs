//! Presets: default policies.

use crate::domains::DomainPattern;
use crate::files::FilePolicy;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

const KB: u64 = 1_000;
const MB: u64 = 1_000 * KB;
const GB: u64 = 1_000 * MB;

/// A default policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Least access: calls with effects outside the space need approval.
    Restrictive,
    /// Suits most spaces.
    Standard,
    /// Most access.
    Permissive,
}

/// Run limits of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetLimits {
    /// Wall-clock time.
    pub time: Duration,
    /// Linear memory in bytes.
    pub memory: u64,
    /// Calls of capability functions.
    pub calls: u64,
}

impl Preset {
    /// Returns the run limits.
    pub fn limits(self) -> PresetLimits {
        let (seconds, megabytes, calls) = match self {
            Preset::Restrictive => (5, 32, 50),
            Preset::Standard => (30, 64, 500),
            Preset::Permissive => (600, 256, 10_000),
        };
        PresetLimits { time: Duration::from_secs(seconds), memory: megabytes << 20, calls }
    }

    pub(crate) fn files(self) -> FilePolicy {
        let (write, max_file_bytes, max_total_bytes) = match self {
            Preset::Restrictive => (false, MB, 10 * MB),
            Preset::Standard => (true, 10 * MB, 100 * MB),
            Preset::Permissive => (true, 100 * MB, GB),
        };
        FilePolicy { read: true, write, max_file_bytes, max_total_bytes }
    }

    /// True if listing hosts is enough to enable network access.
    pub(crate) fn has_network(self) -> bool {
        self != Preset::Restrictive
    }

    /// Default allowed hosts.
    pub(crate) fn domains(self) -> Vec<DomainPattern> {
        match self {
            Preset::Restrictive | Preset::Standard => Vec::new(),
            Preset::Permissive => vec![DomainPattern::every()],
        }
    }

    /// Default allowed methods, or all.
    pub(crate) fn methods(self) -> Option<Vec<String>> {
        match self {
            Preset::Restrictive | Preset::Standard => Some(vec!["GET".to_owned(), "HEAD".to_owned()]),
            Preset::Permissive => None,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Preset::Restrictive => "restrictive",
            Preset::Standard => "standard",
            Preset::Permissive => "permissive",
        })
    }
}
