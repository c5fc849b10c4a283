//! Schemas of functions, and hints about their effects.

use agent_spaces_types::function::label_of;
use capability_gen::definition::Annotations;
use capability_gen::model::Module;
use serde_json::Value;
use std::collections::BTreeMap;

/// Schemas of a function, and hints about its effects.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDetails {
    /// JSON Schema of the parameters object.
    pub parameters: Value,
    /// JSON Schema of the result, if its source declares one.
    pub returns: Option<Value>,
    /// Hints of its source; untrusted.
    pub annotations: Annotations,
}

/// Returns the details of the functions with these labels, by label.
pub(super) fn details(module: &Module, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, FunctionDetails> {
    let mut found = BTreeMap::new();
    for capability in &module.capabilities {
        for function in &capability.functions {
            let label = label_of(&capability.export, &function.js_name, capability.is_single_function);
            if is_wanted(&label) {
                let details = FunctionDetails {
                    parameters: function.params_schema.clone(),
                    returns: function.result_schema.clone(),
                    annotations: function.annotations,
                };
                found.insert(label, details);
            }
        }
    }
    found
}
