//! Test schemas: every construct, and every problematic name.

use serde_json::{Value, json};

/// Tool lists by the name of their server.
pub(super) fn servers() -> Vec<(&'static str, Vec<Value>)> {
    vec![("members", members()), ("roots", roots()), ("names", function_names())]
}

/// Each schema as a member, both as it is and left out, of parameters and of results.
fn members() -> Vec<Value> {
    let tool = |(name, schema): &(&str, Value)| {
        let definitions = schema.get("$defs").cloned().unwrap_or(json!({}));
        let object = json!({
            "type": "object",
            "properties": { "value": schema, "perhaps": schema, "list": { "type": "array", "items": schema } },
            "required": ["value"],
            "$defs": definitions,
        });
        json!({ "name": name, "inputSchema": object, "outputSchema": object })
    };
    constructs().iter().map(tool).collect()
}

fn constructs() -> Vec<(&'static str, Value)> {
    let text = || json!({ "type": "string" });
    let integer = || json!({ "type": "integer" });
    let record =
        |name: &str, schema: Value| json!({ "type": "object", "properties": { name: schema }, "required": [name] });
    vec![
        ("boolean", json!({ "type": "boolean" })),
        ("integer", integer()),
        ("number", json!({ "type": "number" })),
        ("bounded", json!({ "type": "integer", "minimum": 1, "maximum": 100 })),
        ("bounded_number", json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1, "multipleOf": 0.25 })),
        ("string", text()),
        ("short", json!({ "type": "string", "minLength": 2, "maxLength": 5 })),
        ("pattern", json!({ "type": "string", "pattern": "^[A-Z]{2}-\\d+$" })),
        ("null", json!({ "type": "null" })),
        ("anything", json!({})),
        ("any_object", json!({ "type": "object" })),
        ("any_array", json!({ "type": "array" })),
        (
            "enumeration",
            json!({ "enum": ["reactions-+1", "reactions--1", "SUM", "Sum", "sum", "\"", "'", "", " ", "日本", "__proto__", "constructor", "=", "?x", "*", "a\u{0}b", "\n"] }),
        ),
        ("one_text", json!({ "const": "only" })),
        ("empty_text", json!({ "enum": [""] })),
        ("integers", json!({ "enum": [1, 2, 3] })),
        ("numbers", json!({ "enum": [0, 0.5, 1e300, -1] })),
        ("booleans", json!({ "enum": [true] })),
        ("mixed_choices", json!({ "enum": ["auto", 0, true, null] })),
        ("nullable_choice", json!({ "enum": ["a", null] })),
        ("choice_of_objects", json!({ "enum": [{ "a": 1 }, [1, 2], "x"] })),
        ("nullable", json!({ "type": ["string", "null"] })),
        ("nullable_integer", json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] })),
        ("nullable_record", json!({ "anyOf": [record("a", text()), { "type": "null" }] })),
        ("nullable_list", json!({ "type": ["array", "null"], "items": { "type": ["integer", "null"] } })),
        ("list", json!({ "type": "array", "items": integer(), "minItems": 1, "maxItems": 4 })),
        ("set", json!({ "type": "array", "items": integer(), "uniqueItems": true })),
        ("lists", json!({ "type": "array", "items": { "type": "array", "items": { "type": "number" } } })),
        (
            "tuple",
            json!({ "type": "array", "prefixItems": [integer(), text(), { "type": "boolean" }], "items": false, "minItems": 3 }),
        ),
        (
            "old_tuple",
            json!({ "type": "array", "items": [{ "type": "number" }, { "type": "number" }], "minItems": 2, "maxItems": 2 }),
        ),
        ("tuple_with_rest", json!({ "type": "array", "prefixItems": [integer()], "items": text() })),
        ("short_tuple", json!({ "type": "array", "prefixItems": [integer(), text()] })),
        (
            "tuple_of_nullables",
            json!({ "type": "array", "prefixItems": [{ "type": ["string", "null"] }, record("x", integer())], "items": false, "minItems": 2 }),
        ),
        (
            "closed",
            json!({ "type": "object", "properties": { "a": integer(), "b": text() }, "required": ["a"], "additionalProperties": false }),
        ),
        (
            "open",
            json!({ "type": "object", "properties": { "a": integer(), "b": text() }, "required": ["a"], "additionalProperties": true }),
        ),
        (
            "open_and_optional",
            json!({ "type": "object", "properties": { "a": integer() }, "additionalProperties": true }),
        ),
        ("typed_rest", json!({ "type": "object", "properties": { "a": integer() }, "additionalProperties": text() })),
        ("unsaid", json!({ "type": "object", "properties": { "a": integer(), "b": { "type": ["string", "null"] } } })),
        ("map", json!({ "type": "object", "additionalProperties": integer() })),
        ("map_of_records", json!({ "type": "object", "additionalProperties": record("x", integer()) })),
        (
            "patterned",
            json!({ "type": "object", "patternProperties": { "^x-": integer() }, "additionalProperties": false }),
        ),
        (
            "named_map",
            json!({ "type": "object", "propertyNames": { "pattern": "^[a-z]+$" }, "additionalProperties": integer() }),
        ),
        ("empty", json!({ "type": "object", "properties": {}, "additionalProperties": false })),
        ("required_nullable", record("a", json!({ "type": ["integer", "null"] }))),
        (
            "optional_nullable",
            json!({ "type": "object", "properties": { "a": { "type": ["integer", "null"] }, "b": { "anyOf": [{ "type": "null" }, record("c", text())] } } }),
        ),
        ("optional_anything", json!({ "type": "object", "properties": { "a": {}, "b": { "type": "null" } } })),
        ("nested", record("a", record("b", record("c", json!({ "type": "array", "items": record("d", text()) }))))),
        (
            "kinds",
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "boolean" }, { "type": "array", "items": text() }, record("a", integer())] }),
        ),
        ("scalars", json!({ "type": ["boolean", "string", "integer", "null"] })),
        ("seven_types", json!({ "type": ["string", "number", "boolean", "object", "array", "null", "integer"] })),
        ("one_or_many", json!({ "oneOf": [text(), { "type": "array", "items": text() }] })),
        ("integer_or_number", json!({ "anyOf": [{ "type": "integer" }, { "type": "number", "maximum": 0.5 }] })),
        ("choice_or_text", json!({ "anyOf": [{ "enum": ["a", "b"] }, text()] })),
        ("choice_or_integer", json!({ "anyOf": [{ "enum": ["a", "b"] }, integer()] })),
        (
            "shapes",
            json!({ "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "circle" }, "r": { "type": "number" } }, "required": ["kind", "r"] },
            { "type": "object", "properties": { "kind": { "const": "square" }, "side": { "type": "number" } }, "required": ["kind"] },
            { "type": "object", "properties": { "kind": { "enum": ["line", "path", "1:x"] }, "points": { "type": "array", "items": { "type": "number" } } }, "required": ["kind"] },
        ] }),
        ),
        (
            "open_shapes",
            json!({ "oneOf": [
            { "type": "object", "properties": { "__proto__": { "const": "a" }, "x": integer() }, "required": ["__proto__"], "additionalProperties": true },
            { "type": "object", "properties": { "__proto__": { "const": "b" }, "y": integer() }, "required": ["__proto__"], "additionalProperties": integer() },
        ] }),
        ),
        ("alike", json!({ "anyOf": [record("a", integer()), record("b", text())] })),
        (
            "overlapping",
            json!({ "anyOf": [{ "type": "object", "properties": { "a": integer() } }, { "type": "object", "properties": { "a": text(), "b": text() } }] }),
        ),
        ("whole", json!({ "allOf": [record("a", integer()), record("b", text())] })),
        (
            "whole_with_choice",
            json!({ "type": "object", "properties": { "base": text() }, "required": ["base"], "anyOf": [record("a", integer()), record("b", text())] }),
        ),
        (
            "condition",
            json!({ "type": "object", "properties": { "mode": { "enum": ["x", "y"] }, "x": integer() }, "required": ["mode"], "if": { "properties": { "mode": { "const": "x" } } }, "then": { "required": ["x"] } }),
        ),
        (
            "forbidden",
            json!({ "type": "object", "properties": { "a": integer(), "b": integer() }, "not": { "required": ["a", "b"] } }),
        ),
        (
            "together",
            json!({ "type": "object", "properties": { "a": integer(), "b": integer() }, "dependentRequired": { "a": ["b"] } }),
        ),
        (
            "tree",
            json!({ "$ref": "#/$defs/tree", "$defs": { "tree": { "type": "object", "properties": { "label": text(), "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } } }, "required": ["label"] } } }),
        ),
        (
            "chain",
            json!({ "$ref": "#/$defs/link", "$defs": { "link": { "type": "object", "properties": { "next": { "anyOf": [{ "$ref": "#/$defs/link" }, { "type": "null" }] }, "value": { "type": "number" } }, "required": ["next"] } } }),
        ),
        (
            "mutual",
            json!({ "$ref": "#/$defs/even", "$defs": {
            "even": { "type": "object", "properties": { "odd": { "$ref": "#/$defs/odd" } } },
            "odd": { "type": "object", "properties": { "even": { "$ref": "#/$defs/even" }, "n": integer() }, "additionalProperties": true },
        } }),
        ),
        (
            "expression",
            json!({ "$ref": "#/$defs/expression", "$defs": { "expression": { "oneOf": [
            { "type": "number" }, { "type": "string" },
            { "type": "object", "properties": { "operator": { "enum": ["+", "-"] }, "operands": { "type": "array", "items": { "$ref": "#/$defs/expression" } } }, "required": ["operator", "operands"] },
        ] } } }),
        ),
        (
            "json_value",
            json!({ "$ref": "#/$defs/json", "$defs": { "json": { "anyOf": [
            { "type": "null" }, { "type": "boolean" }, { "type": "number" }, { "type": "string" },
            { "type": "array", "items": { "$ref": "#/$defs/json" } }, { "type": "object", "additionalProperties": { "$ref": "#/$defs/json" } },
        ] } } }),
        ),
        (
            "defaults",
            json!({ "type": "object", "properties": { "a": { "type": "integer", "default": 7 }, "b": { "type": "object", "default": {}, "properties": { "c": { "type": "string", "default": "x" } } }, "d": { "type": ["string", "null"], "default": null } } }),
        ),
        ("odd_members", {
            let names = [
                "__proto__",
                "constructor",
                "toString",
                "StartTime",
                "StartTime<",
                "StartTime>",
                "",
                "日本",
                "ünï",
                "If-Match",
                "fill-opacity",
                "fillOpacity",
                "fill_opacity",
                "FillOpacity",
                "record",
                "%record",
                "string",
                "delete",
                "await",
                "tag",
                "val",
                "extra",
                "extras",
                "rest",
                "1st",
                "a.b",
                "(default)",
                "quote\"\\",
                "new\nline",
                "=",
                "?",
                "*",
                "~",
                "toJSON",
                "then",
                "length",
            ];
            let properties: serde_json::Map<String, Value> = names
                .iter()
                .enumerate()
                .map(|(i, name)| ((*name).to_owned(), json!({ "type": if i % 2 == 0 { "string" } else { "integer" } })))
                .collect();
            json!({ "type": "object", "properties": properties, "required": ["__proto__", "StartTime<", ""] })
        }),
        (
            "odd_members_open",
            json!({ "type": "object", "properties": { "__proto__": integer(), "": text(), "constructor": { "type": ["string", "null"] } }, "additionalProperties": true }),
        ),
        ("wide", {
            let properties: serde_json::Map<String, Value> =
                (0..120).map(|i| (format!("Parameter{i}.Name"), text())).collect();
            json!({ "type": "object", "properties": properties })
        }),
        ("boolean_schemas", json!({ "type": "object", "properties": { "a": true, "b": false, "c": integer() } })),
        ("const_null", json!({ "const": null })),
        ("const_object", json!({ "const": { "a": [1, { "__proto__": null }] } })),
        (
            "long_tuple",
            json!({ "type": "array", "prefixItems": (0..20).map(|i| if i % 2 == 0 { integer() } else { text() }).collect::<Vec<_>>(), "items": false, "minItems": 20 }),
        ),
        ("many_choices", json!({ "enum": (0..300).map(|i| format!("choice {i}")).collect::<Vec<_>>() })),
        (
            "list_of_kinds",
            json!({ "type": "array", "items": { "anyOf": [text(), integer(), { "type": "null" }, { "type": "array", "items": { "type": ["boolean", "string"] } }] } }),
        ),
        (
            "nullable_shapes",
            json!({ "anyOf": [
            { "type": "object", "properties": { "type": { "const": "a" }, "v": { "type": ["integer", "null"] } }, "required": ["type", "v"] },
            { "type": "object", "properties": { "type": { "const": "b" }, "v": { "type": "object", "additionalProperties": true } }, "required": ["type"], "additionalProperties": false },
            { "type": "null" }, { "type": "string" },
        ] }),
        ),
        (
            "shapes_in_shapes",
            json!({ "$ref": "#/$defs/node", "$defs": { "node": { "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "leaf" }, "value": {} }, "required": ["kind", "value"] },
            { "type": "object", "properties": { "kind": { "const": "branch" }, "left": { "$ref": "#/$defs/node" }, "right": { "$ref": "#/$defs/node" } }, "required": ["kind"] },
        ] } } }),
        ),
        (
            "boolean_tag",
            json!({ "oneOf": [
            { "type": "object", "properties": { "ok": { "const": true }, "value": integer() }, "required": ["ok"] },
            { "type": "object", "properties": { "ok": { "const": false }, "error": text() }, "required": ["ok"] },
        ] }),
        ),
        (
            "optional_tag",
            json!({ "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "a" }, "x": integer() } },
            { "type": "object", "properties": { "kind": { "const": "b" }, "y": integer() }, "required": ["kind"] },
        ] }),
        ),
        (
            "record_or_map",
            json!({ "anyOf": [record("a", integer()), { "type": "object", "additionalProperties": text() }] }),
        ),
        ("map_or_text", json!({ "anyOf": [{ "type": "object", "additionalProperties": text() }, text()] })),
        ("open_object_or_list", json!({ "type": ["object", "array"] })),
        (
            "map_of_maps",
            json!({ "type": "object", "additionalProperties": { "type": "object", "additionalProperties": { "type": "array", "items": { "type": ["number", "null"] } } } }),
        ),
        (
            "rest_of_tree",
            json!({ "$ref": "#/$defs/folder", "$defs": { "folder": { "type": "object", "properties": { "size": integer() }, "additionalProperties": { "anyOf": [{ "$ref": "#/$defs/folder" }, integer()] } } } }),
        ),
        ("deep", (0..48).fold(integer(), |schema, _| record("d", schema))),
        (
            "deep_lists",
            (0..40)
                .fold(integer(), |schema, _| json!({ "type": "array", "items": schema, "minItems": 1, "maxItems": 1 })),
        ),
        (
            "nullable_in_nullable",
            json!({ "anyOf": [{ "anyOf": [{ "type": ["string", "null"] }, { "type": "null" }] }, { "type": "null" }] }),
        ),
        ("not_null", json!({ "not": { "type": "null" } })),
        ("object_without_type", json!({ "properties": { "a": integer() }, "required": ["a"] })),
        ("draft_4", json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true })),
        ("open_api_nullable", json!({ "type": "string", "nullable": true })),
        (
            "extending",
            json!({ "allOf": [{ "$ref": "#/$defs/base" }, { "type": "object", "properties": { "own": integer() }, "required": ["own"] }], "$defs": { "base": { "type": "object", "properties": { "id": text(), "tags": { "type": "array", "items": text() } }, "required": ["id"] } } }),
        ),
        (
            "unevaluated",
            json!({ "type": "object", "properties": { "a": integer() }, "allOf": [{ "properties": { "b": text() } }], "unevaluatedProperties": false }),
        ),
        (
            "dependent",
            json!({ "type": "object", "properties": { "card": text() }, "dependentSchemas": { "card": { "properties": { "address": text() }, "required": ["address"] } } }),
        ),
        ("never", json!({ "type": "object", "properties": { "price": { "not": {} }, "a": integer() } })),
        ("bytes", json!({ "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 255 } })),
        ("containing", json!({ "type": "array", "contains": { "const": 1 } })),
    ]
}

/// Schemas of whole parameters and results.
fn roots() -> Vec<Value> {
    let tool = |name: &str, schema: Value| json!({ "name": name, "inputSchema": schema, "outputSchema": schema });
    let result = |name: &str, schema: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "outputSchema": schema });
    let shape = |kind: &str, member: &str| json!({ "type": "object", "properties": { "kind": { "const": kind }, member: { "type": "integer" } }, "required": ["kind"] });
    vec![
        json!({ "name": "nothing", "inputSchema": { "type": "object", "properties": {} } }),
        json!({ "name": "nothing_closed", "inputSchema": { "type": "object", "additionalProperties": false } }),
        json!({ "name": "no_schema" }),
        tool("any_object", json!({ "type": "object" })),
        tool(
            "open",
            json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "additionalProperties": true }),
        ),
        tool("map", json!({ "type": "object", "additionalProperties": { "type": "integer" } })),
        tool("map_of_anything", json!({ "type": "object", "additionalProperties": true })),
        tool(
            "all_optional",
            json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": ["string", "null"] } } }),
        ),
        tool("alternatives", json!({ "type": "object", "oneOf": [shape("a", "x"), shape("b", "y")] })),
        tool(
            "overlap",
            json!({ "anyOf": [{ "type": "object", "properties": { "a": { "type": "integer" } } }, { "type": "object", "properties": { "b": { "type": "integer" } } }] }),
        ),
        tool(
            "recursive",
            json!({ "type": "object", "properties": { "name": { "type": "string" }, "parent": { "$ref": "#" } }, "required": ["name"] }),
        ),
        tool(
            "condition",
            json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } }, "if": { "required": ["a"] }, "then": { "required": ["b"] } }),
        ),
        tool(
            "several_of",
            json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } }, "minProperties": 1, "maxProperties": 1 }),
        ),
        result("text", json!({ "type": "string" })),
        result("number", json!({ "type": "number" })),
        result("integer", json!({ "type": "integer" })),
        result("null", json!({ "type": "null" })),
        result("list", json!({ "type": "array", "items": { "type": ["integer", "null"] } })),
        result("nullable", json!({ "type": ["object", "null"], "properties": { "a": { "type": "integer" } } })),
        result(
            "kinds",
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "number" } }, shape("a", "x"), { "type": "null" }] }),
        ),
        result("shapes", json!({ "oneOf": [shape("a", "x"), shape("b", "y")] })),
        result(
            "closed",
            json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "additionalProperties": false }),
        ),
        result("anything", json!({})),
    ]
}

/// Functions whose names collide, are reserved, or are no identifiers.
fn function_names() -> Vec<Value> {
    let names = [
        "get-item",
        "getItem",
        "get_item",
        "GetItem",
        "names_get_item",
        "constructor",
        "__proto__",
        "toString",
        "then",
        "delete",
        "await",
        "interface",
        "func",
        "record",
        "string",
        "json",
        "capability-error",
        "result",
        "own",
        "日本",
        "1st",
        "a.b/c",
        "%",
        "-",
        "_",
        "x-1",
        "x1",
        "default",
        "import",
        "async",
        "use",
        "resource",
        "self",
        "params",
        "get-item-params",
        "getItemResult",
    ];
    let schema = json!({ "type": "object", "properties": { "params": { "type": "object", "properties": { "json": { "type": "string" } } }, "result": { "enum": ["a", "A"] } } });
    names.iter().map(|name| json!({ "name": name, "inputSchema": schema, "outputSchema": schema })).collect()
}
