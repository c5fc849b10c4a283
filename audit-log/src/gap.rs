//! Gap records: entries that were accepted and could not be written.

use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The type of the entry.
pub(crate) const GAP: &str = "gap";

/// The longest reason, in characters.
const MAX_WHY: usize = 300;

/// Entries that were accepted and never written, as the entry that says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "gap")]
pub(crate) struct Gap {
    /// How many.
    pub(crate) entries: u64,
    /// When the first and the last of them were accepted, as RFC 3339.
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) why: String,
}

impl Gap {
    pub(crate) fn new(entries: u64, from: SystemTime, to: SystemTime, why: &str) -> Gap {
        let why = why.chars().take(MAX_WHY).collect();
        Gap { entries, from: time_text(from), to: time_text(to), why }
    }

    /// How many entries are missing, if this entry is a gap record.
    pub(crate) fn told_by(entry: &[u8]) -> Option<u64> {
        let is_gap = entry.starts_with(br#"{"type":"gap","#);
        is_gap.then(|| serde_json::from_slice::<Gap>(entry).ok()).flatten().map(|gap| gap.entries)
    }
}

/// A time as entries have it.
pub(crate) fn time_text(time: SystemTime) -> String {
    // Later than the year 9999 there is no text.
    let latest = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(time.clamp(SystemTime::UNIX_EPOCH, latest)).to_string()
}
