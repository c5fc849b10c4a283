//! Wall-clock time, waiting for calls included.

use std::time::Duration;

pub(super) const CODE: &str = "limit.time";
pub(super) const ADVICE: &str = "Wait for less, run calls side by side with Promise.all";

/// What a person or a model waits for without wondering.
pub(super) const DEFAULT: Duration = Duration::from_secs(30);

pub(super) fn message(allowed: Duration) -> String {
    format!("The script took longer than {}", humantime::format_duration(allowed))
}
