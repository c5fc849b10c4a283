//! Fuel: cost limit of a validation.
//!
//! A unit is about one subschema applied to one value, some tens of nanoseconds. The limit grows with the value, so
//! that large honest values pass, and has a ceiling, so that no schema can make a check take long.

use super::equal::size;
use serde_json::Value;

/// Base fuel: stops an exponential schema in about a tenth of a second.
const BASE: u64 = 2_000_000;
/// Fuel per part of the value. Real schemas visit each part fewer than ten times.
const PER_PART: u64 = 32;
/// Maximum fuel, about a second.
const CEILING: u64 = 20_000_000;
/// Maximum nesting of subschemas in one check: each takes stack of the caller's thread.
const MAX_DEPTH: usize = 600;

/// Fuel exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

/// Fuel left.
#[derive(Debug)]
pub(super) struct Fuel {
    left: u64,
    depth: usize,
}

impl Fuel {
    /// Fuel for checks of this value.
    pub(super) fn for_value(value: &Value) -> Fuel {
        Fuel { left: size(value).saturating_mul(PER_PART).saturating_add(BASE).min(CEILING), depth: 0 }
    }

    /// Fuel for checking a schema's own defaults when it is compiled.
    pub(super) fn for_schema() -> Fuel {
        Fuel { left: CEILING, depth: 0 }
    }

    /// Lends at most `units`, to be settled afterwards.
    pub(super) fn lend(&self, units: u64) -> Fuel {
        Fuel { left: self.left.min(units), depth: 0 }
    }

    /// Deducts the used part of a loan.
    pub(super) fn settle(&mut self, units: u64, back: &Fuel) {
        let lent = self.left.min(units);
        self.left = self.left.saturating_sub(1 + lent.saturating_sub(back.left));
    }

    pub(super) fn spend(&mut self, units: u64) -> Result<(), Exhausted> {
        self.left = self.left.checked_sub(units).ok_or(Exhausted)?;
        Ok(())
    }

    /// Enters a subschema. `Exhausted` ends the check, so only a success needs its [`Fuel::leave`].
    pub(super) fn enter(&mut self) -> Result<(), Exhausted> {
        self.spend(1)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Exhausted) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}
