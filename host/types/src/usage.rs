//! Resource usage of a run.

use serde::{Deserialize, Serialize};

/// Resource usage of a run, whether it succeeded or failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Fuel consumed; deterministic for the same answers.
    pub fuel: u64,
    /// Peak size of linear memory.
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
