//! Helpers shared by the fuzz targets.

use capability_gen::implementation::Implementation;
use capability_gen::sources::{Format, MAX_FUNCTIONS, MAX_NAME_BYTES, Source, SourceError, parse};
use serde_json::Value;
use std::collections::HashSet;

/// Parses text as a format and checks the guarantees of every parser.
pub fn parse_as(text: &str, format: Format) {
    check(text, Some(format));
}

/// Parses text with format detection.
pub fn parse_any(text: &str) {
    check(text, None);
}

fn check(text: &str, format: Option<Format>) {
    let source = Source { file: "fuzz.json", text, name: Some("fuzz"), format };
    let definitions = match parse(&source) {
        Ok(definitions) => definitions,
        Err(SourceError { place, message, fix }) => {
            assert_eq!(place.file, "fuzz.json");
            assert!(!place.path.is_empty() && !message.is_empty() && !fix.is_empty());
            // An error never contains a whole document.
            assert!(place.path.len() + message.len() + fix.len() < 100_000);
            return;
        }
    };
    assert!(!definitions.is_empty() || matches!(format, None | Some(Format::Mcp)));
    for definition in definitions {
        assert!(!definition.name.trim().is_empty() && definition.name.len() <= MAX_NAME_BYTES);
        assert!(!definition.functions.is_empty() && definition.functions.len() <= MAX_FUNCTIONS);
        let mut names = HashSet::new();
        for function in &definition.functions {
            assert!(!function.name.trim().is_empty() && function.name.len() <= MAX_NAME_BYTES);
            assert!(names.insert(&function.name), "two functions of one name");
            assert!(function.parameters.is_object());
            // A document with such references may have them in its examples too.
            let is_document = matches!(function.implementation, Some(Implementation::Http(_)));
            if is_document && !text.contains("$defs") && !text.contains('\\') {
                assert!(!has_dangling_reference(&function.parameters));
                assert!(!function.returns.as_ref().is_some_and(has_dangling_reference));
            }
        }
    }
}

/// Returns true if a self-contained schema refers to a definition that it does not have.
fn has_dangling_reference(schema: &Value) -> bool {
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                let reference = members.get("$ref").and_then(Value::as_str);
                let name = reference.and_then(|reference| reference.strip_prefix("#/$defs/"));
                if name.is_some_and(|name| schema["$defs"].get(name).is_none()) {
                    return true;
                }
                waiting.extend(members.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    false
}
