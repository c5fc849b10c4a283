//! Time limit: wall-clock time, waiting for calls included.

use crate::code::Code;
use std::time::Duration;

pub(super) const CODE: Code = Code::LimitTime;
pub(super) const ADVICE: &str = "Wait for less, run calls concurrently with Promise.all";

/// About as long as a person or a model waits without wondering.
pub(super) const DEFAULT: Duration = Duration::from_secs(30);

pub(super) fn message(allowed: Duration) -> String {
    format!("The script took longer than {}", humantime::format_duration(allowed))
}
