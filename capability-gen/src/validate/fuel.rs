//! What a check may cost.
//!
//! A unit is about one subschema against one value, some tens of nanoseconds. The allowance grows with the value,
//! so that a large honest one passes, and has a ceiling, so that no schema can make a check last.

use super::equal::size;
use serde_json::Value;

/// Ends an exponential schema in about a tenth of a second.
const BASE: u64 = 2_000_000;
/// Real schemas look at each part of a value fewer than ten times.
const PER_PART: u64 = 32;
/// About a second's worth.
const CEILING: u64 = 20_000_000;
/// Subschemas within subschemas in one check: each takes stack, and the thread is not ours.
const MAX_DEPTH: usize = 600;

/// The check was too costly to finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

/// What is left.
#[derive(Debug)]
pub(super) struct Fuel {
    left: u64,
    depth: usize,
}

impl Fuel {
    /// For checks of this value.
    pub(super) fn for_value(value: &Value) -> Fuel {
        Fuel { left: size(value).saturating_mul(PER_PART).saturating_add(BASE).min(CEILING), depth: 0 }
    }

    /// For all checks that a schema's own values need when it is compiled.
    pub(super) fn for_schema() -> Fuel {
        Fuel { left: CEILING, depth: 0 }
    }

    /// At most `units` of this, to be settled after.
    pub(super) fn lend(&self, units: u64) -> Fuel {
        Fuel { left: self.left.min(units), depth: 0 }
    }

    /// Takes off what was used of a loan.
    pub(super) fn settle(&mut self, units: u64, back: &Fuel) {
        let lent = self.left.min(units);
        self.left = self.left.saturating_sub(1 + lent.saturating_sub(back.left));
    }

    pub(super) fn spend(&mut self, units: u64) -> Result<(), Exhausted> {
        self.left = self.left.checked_sub(units).ok_or(Exhausted)?;
        Ok(())
    }

    /// One subschema deeper. There is no way on after `Exhausted`, so only a success needs its [`Fuel::leave`].
    pub(super) fn enter(&mut self) -> Result<(), Exhausted> {
        self.spend(1)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Exhausted) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}
