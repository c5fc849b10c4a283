//! Gap records: entries that were accepted and could not be written.

use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The type of the entry.
pub(crate) const GAP: &str = "gap";

/// The longest reason, in characters.
const MAX_WHY: usize = 300;

/// Gap record: entries that were accepted and never written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "gap")]
pub(crate) struct Gap {
    /// Number of entries.
    pub(crate) entries: u64,
    /// Times at which the first and the last of them were accepted, as RFC 3339.
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) why: String,
}

impl Gap {
    pub(crate) fn new(entries: u64, from: SystemTime, to: SystemTime, why: &str) -> Gap {
        let why = why.chars().take(MAX_WHY).collect();
        Gap { entries, from: time_text(from), to: time_text(to), why }
    }

    /// Parses a gap record and returns the number of missing entries.
    pub(crate) fn parse(entry: &[u8]) -> Option<u64> {
        let is_gap = entry.starts_with(br#"{"type":"gap","#);
        is_gap.then(|| serde_json::from_slice::<Gap>(entry).ok()).flatten().map(|gap| gap.entries)
    }
}

/// Formats a time for entries.
pub(crate) fn time_text(time: SystemTime) -> String {
    // RFC 3339 ends with the year 9999.
    let latest = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(time.clamp(SystemTime::UNIX_EPOCH, latest)).to_string()
}
