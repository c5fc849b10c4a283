//! Source limit: size of a script and the files that it imports.

use crate::code::Code;

/// Default source limit in bytes, for a script together with the files that it imports. People and models write
/// kilobytes.
pub const DEFAULT_SCRIPT_BYTES: usize = 1 << 20;

/// Error code of the source limit.
pub const CODE: Code = Code::LimitSource;
pub(super) const ADVICE: &str = "Keep data in workspace files and read them";

pub(super) const DEFAULT: u64 = DEFAULT_SCRIPT_BYTES as u64;

/// Returns the error message of the source limit.
pub fn message(allowed: u64) -> String {
    format!("The script and the files that it imports have more than {allowed} bytes")
}
