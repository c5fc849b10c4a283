//! What the schema says holds when a member is absent.

use super::Compiled;
use capability_gen::validate::apply_defaults;
use serde_json::Value;

pub(super) fn apply(compiled: &Compiled, params: &mut Value) {
    apply_defaults(&compiled.schema, params);
}
