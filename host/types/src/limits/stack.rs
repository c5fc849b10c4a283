//! Stack limit: stops infinite recursion.

use crate::code::Code;

pub(super) const CODE: Code = Code::LimitStack;
pub(super) const ADVICE: &str = "Look for infinite recursion, or use a loop";

pub(super) fn message() -> String {
    "The script's call stack overflowed".into()
}
