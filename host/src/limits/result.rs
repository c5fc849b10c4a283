//! Size of the value.

pub(super) const CODE: &str = "limit.result";
pub(super) const ADVICE: &str = "Return a summary, or the part that is needed";

/// Far more than a model can read, little enough to keep in a log.
pub(super) const DEFAULT: u64 = 8 << 20;

pub(super) fn message(allowed: u64) -> String {
    format!("The script's value is longer than {allowed} bytes of JSON")
}
