//! JSON Schemas of parameter and result types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Returns the schema of parameters; for `()`, that of an empty object.
pub(super) fn parameters<P: JsonSchema>() -> Value {
    match of::<P>(SchemaSettings::draft2020_12().for_deserialize()) {
        schema if schema["type"] == "null" => json!({ "type": "object", "properties": {} }),
        schema => schema,
    }
}

/// Returns the schema of a result.
pub(super) fn result<R: JsonSchema>() -> Value {
    of::<R>(SchemaSettings::draft2020_12().for_serialize())
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
