//! Decimal numbers: temperatures, prices.

use super::reader::{Node, Result};
use std::ops::RangeInclusive;

/// Finite number, so that settings can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decimal(f64);

impl Eq for Decimal {}

impl Decimal {
    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Reads a number within a range.
    pub(super) fn read(node: Node<'_>, range: RangeInclusive<f64>) -> Result<Decimal> {
        let expected = || format!("a number from {} to {}", range.start(), range.end());
        let number = node.value.as_f64().ok_or_else(|| node.expected(&expected()))?;
        // TOML has `nan`.
        match number.is_finite() && range.contains(&number) {
            true => Ok(Decimal(number)),
            false => Err(node.error(format!("expected {}", expected()))),
        }
    }
}
