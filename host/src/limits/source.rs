//! Source limit: size of a script and the files that it imports.

use crate::script::DEFAULT_SCRIPT_BYTES;

pub(crate) const CODE: &str = "limit.source";
pub(super) const ADVICE: &str = "Keep data in workspace files and read them";

pub(super) const DEFAULT: u64 = DEFAULT_SCRIPT_BYTES as u64;

pub(crate) fn message(allowed: u64) -> String {
    format!("The script and the files that it imports have more than {allowed} bytes")
}
