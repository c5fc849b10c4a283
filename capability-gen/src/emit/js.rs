//! `index.js`: the module that a script imports, a proxy for the host's calls.

use super::text::{function_id, is_identifier, push_quoted};
use crate::model::{Capability, Module};
use crate::server;
use crate::server::ServerPart;
use serde_json::{Map, Value};

/// Module that `index.js` imports.
pub const RUNTIME: &str = "@agent-spaces/runtime";

/// Maximum depth of an emitted schema; clean schemas are never this deep.
const MAX_DEPTH: usize = 256;

const CREATE: &str = "createCapabilityProxy";

/// The source of the module `@agent-spaces/runtime`.
pub fn runtime_js() -> &'static str {
    include_str!("typescript/runtime.js")
}

/// The module's `index.js`.
pub fn js(module: &Module) -> String {
    let exported = |capability: &Capability| capability.export == CREATE || is_function_exported(capability, CREATE);
    // An export of the same name would conflict with the import; no source name ends in `$`.
    let is_taken = module.capabilities.iter().any(exported);
    let create = if is_taken { "createCapabilityProxy$" } else { CREATE };
    let mut out = if is_taken {
        format!("import {{ {CREATE} as {create} }} from '{RUNTIME}';\n")
    } else {
        format!("import {{ {CREATE} }} from '{RUNTIME}';\n")
    };
    for capability in &module.capabilities {
        out.push_str("\nexport const ");
        if capability.is_single_function {
            let names = capability.functions.iter().map(|function| match function.js_name == capability.export {
                true => function.js_name.clone(),
                false => format!("{}: {}", function.js_name, capability.export),
            });
            out.push_str(&format!("{{ {} }}", names.collect::<Vec<_>>().join(", ")));
        } else {
            out.push_str(&capability.export);
        }
        out.push_str(&format!(" = {create}("));
        push_quoted(&mut out, &capability.label());
        out.push_str(", {\n");
        for function in &capability.functions {
            out.push_str("  ");
            push_key(&mut out, &function.js_name);
            out.push_str(": {\n    handler: ");
            push_quoted(&mut out, &function_id(capability, function));
            out.push_str(",\n    schema: ");
            push_value(&mut out, &function.params_schema, Part::Schema, 0);
            out.push_str(",\n  },\n");
        }
        for of in &capability.server {
            push_part(&mut out, create, capability, of.part);
        }
        out.push_str("});\n");
    }
    out
}

/// `  $resources: createCapabilityProxy('everything.$resources', { … }),`
fn push_part(out: &mut String, create: &str, capability: &Capability, part: ServerPart) {
    let name = capability.part_export(part);
    out.push_str(&format!("  {}: {create}(", part.member()));
    push_quoted(out, &name);
    out.push_str(", {\n");
    for function in server::functions(part) {
        out.push_str(&format!("    {}: {{ handler: ", function.name));
        push_quoted(out, &format!("{name}.{}", function.name));
        out.push_str(" },\n");
    }
    out.push_str("  }),\n");
}

fn is_function_exported(capability: &Capability, name: &str) -> bool {
    capability.is_single_function && capability.functions.iter().any(|function| function.js_name == name)
}

/// Role of a value inside a schema.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// A schema, or an array of schemas.
    Schema,
    /// An object of names to schemas.
    Names,
    /// Plain data.
    Data,
}

impl Part {
    fn of_keyword(keyword: &str) -> Part {
        match keyword {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => Part::Names,
            "enum" | "const" | "default" | "required" | "dependentRequired" => Part::Data,
            _ => Part::Schema,
        }
    }
}

/// Returns true for documentation keywords, which do not affect validation.
fn is_prose(keyword: &str) -> bool {
    matches!(keyword, "description" | "title" | "$comment" | "examples" | "example")
}

fn push_value(out: &mut String, value: &Value, part: Part, depth: usize) {
    match value {
        _ if depth > MAX_DEPTH => out.push_str("{}"),
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => push_quoted(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push_value(out, item, part, depth + 1);
            }
            out.push(']');
        }
        Value::Object(members) => push_object(out, members, part, depth),
    }
}

fn push_object(out: &mut String, members: &Map<String, Value>, part: Part, depth: usize) {
    let mut separator = "{ ";
    for (key, value) in members.iter().filter(|(key, _)| part != Part::Schema || !is_prose(key)) {
        out.push_str(separator);
        push_key(out, key);
        out.push_str(": ");
        let inner = match part {
            Part::Schema => Part::of_keyword(key),
            Part::Names => Part::Schema,
            Part::Data => Part::Data,
        };
        push_value(out, value, inner, depth + 1);
        separator = ", ";
    }
    out.push_str(if separator == "{ " { "{}" } else { " }" });
}

/// Writes a key of an object literal. `__proto__` is computed, since it would set the prototype otherwise.
fn push_key(out: &mut String, key: &str) {
    if key == "__proto__" {
        out.push_str("['__proto__']");
    } else if is_identifier(key) {
        out.push_str(key);
    } else {
        push_quoted(out, key);
    }
}
