//! Default values of the parameter schema for absent members.

use super::Compiled;
use serde_json::Value;

/// Fills absent members with their defaults.
pub(super) fn apply(compiled: &Compiled, params: &mut Value) {
    compiled.validator.apply_defaults(params);
}
