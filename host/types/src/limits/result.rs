//! Result limit: size of the script's return value.

use crate::code::Code;

pub(super) const CODE: Code = Code::LimitResult;
pub(super) const ADVICE: &str = "Return a summary, or the part that is needed";

/// Far more than a model can read, small enough for a log.
pub(super) const DEFAULT: u64 = 8 << 20;

pub(super) fn message(allowed: u64) -> String {
    format!("The script's value is longer than {allowed} bytes of JSON")
}
