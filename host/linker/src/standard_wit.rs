//! WIT of the standard library.

/// Text of `std.wit`.
pub const WIT: &str = include_str!("../wit/std.wit");
