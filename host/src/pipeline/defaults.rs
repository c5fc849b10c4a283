//! What the schema says holds when a member is absent.

use super::Compiled;
use serde_json::Value;

pub(super) fn apply(compiled: &Compiled, params: &mut Value) {
    compiled.validator.apply_defaults(params);
}
