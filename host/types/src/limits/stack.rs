//! Stack limit: stops infinite recursion.

use crate::code::Code;

pub(super) const CODE: Code = Code::LimitStack;
pub(super) const ADVICE: &str = "Look for a recursion that does not end, or use a loop";

pub(super) fn message() -> String {
    "The script's calls are nested too deep".into()
}
