//! Parameters and result of a script, from the types of its default export.

use super::fault::Fault;
use super::files::{Files, MAIN};
use super::types::{self, docs};
use super::value::Reader;
use super::{Load, with_files};
use crate::definition::Note;
use crate::sources::SourceError;
use oxc_span::GetSpan as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Signature of a script's default function.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSignature {
    /// Description from its JSDoc comment.
    pub description: String,
    /// JSON Schema of its parameter, an object.
    pub parameters: Value,
    /// JSON Schema of its result, if the type is declared.
    pub returns: Option<Value>,
    /// Warnings.
    pub notes: Vec<Note>,
}

/// Reads the types of the function that a script exports as its default. `load` is as for [`super::parse`].
///
/// # Errors
/// The script has no such function, or the function does not take exactly one object.
pub fn signature(file: &str, text: &str, load: Load<'_>) -> Result<ScriptSignature, SourceError> {
    with_files(file, text, load, read)
}

fn read(files: &Files<'_, '_>) -> Result<ScriptSignature, Fault> {
    let main = files.get(MAIN);
    let Some(default) = main.as_ref().and_then(|main| main.file().default) else {
        return Err(Fault::new(
            0,
            "the script's default export is not a function",
            "write `export default async function (params: { day: string }): Promise<Report> { … }`",
        ));
    };
    let reader = Reader::new(files);
    let mut remarks = BTreeSet::new();
    let at = default.start;
    let one_object = "let it take one object with a type, such as `(params: { day: string })`";
    let parameters = match default.parameters.items.as_slice() {
        [] => json!({ "type": "object", "properties": {} }),
        [parameter] => {
            let Some(annotation) = &parameter.type_annotation else {
                return Err(Fault::new(parameter.span().start, "the parameter has no type", one_object));
            };
            let schema = inlined(types::schema_of(&reader, &annotation.type_annotation, &mut remarks)?);
            if schema.get("type") != Some(&json!("object")) {
                return Err(Fault::new(parameter.span().start, "the parameter is not an object", one_object));
            }
            schema
        }
        _ => return Err(Fault::new(at, "the script's function takes several parameters", one_object)),
    };
    if default.parameters.rest.is_some() {
        return Err(Fault::new(at, "the script's function takes any number of parameters", one_object));
    }
    let returns = default.returns.map(|it| types::schema_of(&reader, &it.type_annotation, &mut remarks)).transpose()?;
    let mut described = json!({});
    docs::describe(&mut described, reader.comment(at));
    let description = described.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let notes = remarks.into_iter().map(|(at, message)| Note { place: files.place(at), message }).collect();
    Ok(ScriptSignature { description, parameters, returns, notes })
}

/// Inlines a schema that is only a reference, so that its members are visible.
fn inlined(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else { return schema };
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"));
    let named = name.and_then(|name| schema.get("$defs")?.get(name).cloned());
    let Some(Value::Object(named)) = named else { return Value::Object(schema) };
    let definitions = schema.remove("$defs").unwrap_or_else(|| Value::Object(Map::new()));
    let mut whole = named;
    whole.insert("$defs".to_owned(), definitions);
    Value::Object(whole)
}
