//! What a run used.

use serde::Serialize;

/// What a run used, whether it has a value or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Units of work; the same on every run with the same answers.
    pub fuel: u64,
    /// The largest size of linear memory.
    pub memory_bytes: u64,
    /// Wall-clock time.
    pub wall_ms: f64,
    /// Calls of capability functions.
    pub calls: u64,
    /// Bytes from capabilities to the script.
    pub bytes_in: u64,
    /// Bytes from the script to capabilities.
    pub bytes_out: u64,
}
