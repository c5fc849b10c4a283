//! JSON Schema of each form of type.

use super::{definition, file, refusal, returns};
use serde_json::{Value, json};

/// Types that need no declarations.
#[test]
fn types_without_names() {
    let string = json!({ "type": "string" });
    let cases: Vec<(&str, Value)> = vec![
        ("string", string.clone()),
        ("number", json!({ "type": "number" })),
        ("boolean", json!({ "type": "boolean" })),
        ("null", json!({ "type": "null" })),
        ("object", json!({ "type": "object" })),
        ("any", json!({})),
        ("unknown", json!({})),
        ("void", json!({})),
        ("undefined", json!({})),
        ("never", json!({ "not": {} })),
        ("'a'", json!({ "type": "string", "const": "a" })),
        ("-1", json!({ "const": -1 })),
        ("true", json!({ "const": true })),
        ("`a`", json!({ "type": "string", "const": "a" })),
        ("`a${string}`", json!({ "type": "string", "pattern": "^a[\\s\\S]*$" })),
        ("`${'a' | 'b.'}-${1 | 2}`", json!({ "type": "string", "pattern": "^(?:a|b\\.)-(?:1|2)$" })),
        ("`$${`${boolean}$`}`", json!({ "type": "string", "pattern": "^\\$(?:true|false)\\$$" })),
        ("`${number}px`", json!({ "type": "string", "pattern": "^-?[0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?px$" })),
        ("`${Uppercase<string>}`", json!({ "type": "string", "pattern": "^[\\s\\S]*$" })),
        ("`${unknown}`", string.clone()),
        ("'a' | 'b'", json!({ "type": "string", "enum": ["a", "b"] })),
        ("1 | 'a' | 1", json!({ "enum": [1, "a"] })),
        ("string | null", json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
        ("string | undefined", json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
        ("null | 'a' | 'b'", json!({ "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }] })),
        ("string | unknown", json!({})),
        ("string | never", string.clone()),
        ("string[]", json!({ "type": "array", "items": string })),
        ("readonly string[]", json!({ "type": "array", "items": string })),
        ("Array<string>", json!({ "type": "array", "items": string })),
        ("ReadonlyArray<(string)>", json!({ "type": "array", "items": string })),
        ("[]", json!({ "type": "array", "maxItems": 0 })),
        (
            "[string, number?]",
            json!({ "type": "array", "prefixItems": [string, { "type": "number" }], "minItems": 1, "items": false }),
        ),
        (
            "[name: string, ...rest: number[]]",
            json!({ "type": "array", "prefixItems": [string], "minItems": 1, "items": { "type": "number" } }),
        ),
        ("[...string[]]", json!({ "type": "array", "items": string })),
        (
            "[...string[], number]",
            json!({ "type": "array", "items": { "anyOf": [string, { "type": "number" }] }, "minItems": 1 }),
        ),
        ("{}", json!({ "type": "object", "properties": {}, "required": [] })),
        (
            "{ a: string; b?: string; readonly 'c d': string | undefined }",
            json!({
                "type": "object", "properties": { "a": string, "b": string, "c d": string }, "required": ["a"],
            }),
        ),
        (
            "{ [key: string]: number }",
            json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "number" } }),
        ),
        ("Record<string, number>", json!({ "type": "object", "additionalProperties": { "type": "number" } })),
        (
            "Record<'a' | 'b', string>",
            json!({ "type": "object", "properties": { "a": string, "b": string }, "required": ["a", "b"] }),
        ),
        (
            "{ [K in 'a' | 'b']?: K }",
            json!({ "type": "object", "properties": {
            "a": { "type": "string", "const": "a" }, "b": { "type": "string", "const": "b" } } }),
        ),
        ("Promise<string>", string.clone()),
        ("Date", json!({ "type": "string", "format": "date-time" })),
        (
            "{ a: string } & { b: number }",
            json!({
                "type": "object", "properties": { "a": string, "b": { "type": "number" } }, "required": ["a", "b"],
            }),
        ),
        (
            "{ a: string } & Record<string, string>",
            json!({ "allOf": [
            { "type": "object", "properties": { "a": string }, "required": ["a"] },
            { "type": "object", "additionalProperties": string },
        ] }),
        ),
        ("string & { readonly brand: 'id' }", string.clone()),
        (
            "Exclude<'a' | 'b' | null, 'a'>",
            json!({ "anyOf": [{ "type": "string", "const": "b" }, { "type": "null" }] }),
        ),
        ("NonNullable<string | null>", string.clone()),
        (
            "Extract<{ kind: 'a'; x: 1 } | { kind: 'b' } | string, { kind: 'a' }>",
            json!({ "type": "object", "properties": {
                "kind": { "type": "string", "const": "a" }, "x": { "const": 1 } }, "required": ["kind", "x"] }),
        ),
        ("Exclude<'a' | 1 | true | null, string | null>", json!({ "enum": [1, true] })),
        ("Exclude<{ kind: 'a' } | string, { kind?: string }>", string.clone()),
    ];
    for (ty, expected) in cases {
        assert_eq!(brief(returns("", ty)), brief(expected), "{ty}");
    }
}

#[test]
fn utility_types_on_named_ones() {
    let types = "interface Trip { id: string; hour: number; note?: string }\n\
                 type Trips = Trip[]; const LEVELS = ['low', 'high'] as const; const plain = { a: 1, b: 'x' };";
    let (string, number) = (json!({ "type": "string" }), json!({ "type": "number" }));
    let cases = [
        (
            "Partial<Trip>",
            json!({ "type": "object", "properties": { "id": string, "hour": number, "note": string }, "required": [] }),
        ),
        (
            "Required<Trip>",
            json!({ "type": "object", "properties": { "id": string, "hour": number, "note": string }, "required": ["id", "hour", "note"] }),
        ),
        (
            "Pick<Trip, 'id' | 'note'>",
            json!({ "type": "object", "properties": { "id": string, "note": string }, "required": ["id"] }),
        ),
        (
            "Omit<Trip, 'id'>",
            json!({ "type": "object", "properties": { "hour": number, "note": string }, "required": ["hour"] }),
        ),
        ("Partial<Pick<Trip, 'id'>>", json!({ "type": "object", "properties": { "id": string } })),
        ("keyof Trip", json!({ "type": "string", "enum": ["id", "hour", "note"] })),
        ("Trip['hour']", number.clone()),
        ("(typeof LEVELS)[number]", json!({ "type": "string", "enum": ["low", "high"] })),
        (
            "typeof plain",
            json!({ "type": "object", "properties": { "a": number, "b": string }, "required": ["a", "b"] }),
        ),
        ("(typeof LEVELS)[1]", json!({ "type": "string", "const": "high" })),
        ("keyof typeof plain", json!({ "type": "string", "enum": ["a", "b"] })),
    ];
    for (ty, expected) in cases {
        let mut schema = returns(types, ty);
        schema.as_object_mut().unwrap().shift_remove("$defs");
        assert_eq!(brief(schema), brief(expected), "{ty}");
    }
    assert_eq!(returns(types, "Trips[number]")["$ref"], "#/$defs/Trip");
}

/// Names survive as titles, and comments as descriptions.
#[test]
fn named_types_with_comments() {
    let types = "/** One customer. */\nexport interface Customer extends Entity {\n\
          /**\n   * What it is called,\n   * in full.\n   * @example 'Acme'\n   */\n  name: string;\n\
          /** @deprecated use `name` */ alias?: Alias;\n  parent: Customer | null;\n  color: Color; state: State.Open;\n}\n\
        interface Entity { id: string; name: unknown; created: Date }\n\
        type Alias = string;\n/* no JSDoc */ enum Color { Red = 'red', Blue = 'blue' }\n\
        const enum State { Open, Closed = 5, Gone }\ninterface Customer { tags: ReadonlyArray<State> }";
    assert_eq!(
        returns(types, "Customer"),
        json!({
            "$ref": "#/$defs/Customer",
            "$defs": {
                "Customer": {
                    "title": "Customer",
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "created": { "type": "string", "format": "date-time" },
                        "name": { "type": "string", "description": "What it is called,\nin full." },
                        "alias": { "$ref": "#/$defs/Alias", "deprecated": true },
                        "parent": { "anyOf": [{ "$ref": "#/$defs/Customer" }, { "type": "null" }] },
                        "color": { "$ref": "#/$defs/Color" },
                        "state": { "const": 0 },
                        "tags": { "type": "array", "items": { "$ref": "#/$defs/State" } },
                    },
                    "required": ["id", "created", "name", "parent", "color", "state", "tags"],
                    "description": "One customer.",
                },
                "Alias": { "title": "Alias", "type": "string" },
                "Color": { "title": "Color", "type": "string", "enum": ["red", "blue"] },
                "State": { "title": "State", "enum": [0, 5, 6] },
                "Entity": {
                    "title": "Entity",
                    "type": "object",
                    "properties": { "id": { "type": "string" }, "name": {}, "created": { "type": "string", "format": "date-time" } },
                    "required": ["id", "name", "created"],
                },
            },
        })
    );
}

#[test]
fn generic_types_by_substitution() {
    let types = "interface Page<T, U = string> { items: T[]; cursor?: U; more: Partial<T> }\ninterface Trip { id: string }\n\
                 type Nested<T> = Page<T> | null; interface PageTripString { own: true }";
    let schema = returns(types, "[Nested<Trip>, Page<{ a: 1 }>, Page<{ a: 2 }>, PageTripString]");
    let definitions = schema["$defs"].as_object().unwrap();
    let keys: Vec<&str> = definitions.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["Trip", "NestedTrip", "PageObjectString", "PageObjectString2", "PageTripString", "PageTripString2"]
    );
    let page = &definitions["PageTripString2"];
    assert_eq!(page["title"], "PageTripString");
    assert_eq!(page["properties"]["items"]["items"], json!({ "$ref": "#/$defs/Trip" }));
    assert_eq!(page["properties"]["cursor"], json!({ "type": "string" }));
    assert_eq!(
        page["properties"]["more"],
        json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": [] })
    );
    assert_eq!(page["required"], json!(["items", "more"]));
}

#[test]
fn types_that_contain_themselves() {
    let types = "interface Tree { value: Json; children: Tree[] }\n\
                 type Json = string | number | boolean | null | Json[] | { [key: string]: Json };";
    let schema = returns(types, "Tree");
    assert_eq!(schema["$defs"]["Tree"]["properties"]["children"]["items"], json!({ "$ref": "#/$defs/Tree" }));
    assert_eq!(schema["$defs"]["Json"]["anyOf"][4], json!({ "type": "array", "items": { "$ref": "#/$defs/Json" } }));
    for circle in ["type A = A;", "type A = B; type B = A | string;", "type A = { x: 1 } & A;"] {
        let (_, message, fix) = refusal(&file(circle, "returns: {} as A"));
        assert!(message.ends_with("is defined as itself"), "{circle}: {message}");
        assert_eq!(fix, "let it contain itself only inside an object or an array");
    }
    let (place, message, _) = refusal(&file("interface A extends B {}\ninterface B extends A {}", "returns: {} as A"));
    assert_eq!((place.as_str(), message.as_str()), ("3:21", "the interface `B` extends itself"));
}

#[test]
fn endless_types_end_in_any_value() {
    let endless = [
        "interface N<T> { next: N<N<T>>; value: T }",
        "interface N<T> { next: N<[T]>; value: T }",
        "interface N<T> { next: Partial<N<T>>; value: T }",
    ];
    for types in endless {
        let definition = definition(&file(types, "returns: {} as N<string>"));
        assert!(definition.notes.iter().any(|note| note.message.contains("is any value")), "{types}");
        assert!(definition.functions[0].returns.as_ref().unwrap().to_string().len() < 20_000, "{types}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_where_it_stands() {
    let cases = [
        ("Pick<{ a: 1 }, 'b'>", "there is no member `b` to pick"),
        ("{ a: 1 }['b']", "there is no member `b`"),
        ("{ a: 1, a: 2 }", "the member `a` is declared twice"),
        ("Space.Name", "the type `Space.Name` is not declared in this file"),
        ("level", "`level` is a value, not a type"),
        ("typeof missing", "the constant `missing` is not declared in this file"),
        ("import('./a')", "`import('./a')` is a whole file, not a type"),
        ("Color.Green", "the enum `Color` has no member `Green`"),
        ("Custommer", "the type `Custommer` is not declared in this file"),
        ("Parital<{}>", "the type `Parital` is not declared in this file"),
    ];
    for (ty, expected) in cases {
        let types = "interface Customer {} enum Color { Red } const level = 1;";
        let (place, message, fix) = refusal(&file(types, &format!("returns: {{}} as {ty}")));
        assert_eq!(message, expected, "{ty}");
        assert!(place.starts_with("3:") && !fix.is_empty(), "{ty}: {place}");
        let near = [("Custommer", "Customer"), ("Parital<{}>", "Partial")].into_iter().find(|(slip, _)| *slip == ty);
        if let Some((_, near)) = near {
            assert!(fix.starts_with(&format!("did you mean `{near}`?")), "{fix}");
        }
    }
}

/// `[K in keyof T]` keeps what is optional in `T`, unless it says otherwise.
#[test]
fn mapped_types_keep_what_is_optional() {
    let types = "interface Trip { id: string; note?: string }";
    let required = |ty: &str| returns(types, ty)["required"].clone();
    assert_eq!(required("{ [K in keyof Trip]: Trip[K] }"), json!(["id"]));
    assert_eq!(required("{ readonly [K in keyof Trip]: boolean }"), json!(["id"]));
    assert_eq!(required("{ [K in keyof Trip]-?: Trip[K] }"), json!(["id", "note"]));
    assert_eq!(required("{ [K in keyof Trip]?: Trip[K] }"), json!([]));
}

#[test]
fn enums_by_their_names_and_members() {
    let types = "enum Color { Red = 'red', Blue = 'blue' } const LIMITS = { low: 1, high: 5 } as const;";
    assert_eq!(returns(types, "keyof typeof Color"), json!({ "type": "string", "enum": ["Red", "Blue"] }));
    assert_eq!(returns(types, "typeof LIMITS.high"), json!({ "const": 5 }));
    assert_eq!(returns(types, "(typeof LIMITS)[keyof typeof LIMITS]"), json!({ "enum": [1, 5] }));
    let members = "parameters: { color: { type: 'string', default: Color.Red, 'x-limit': LIMITS.high } }";
    let color = definition(&file(types, members)).functions.remove(0).parameters["properties"]["color"].clone();
    assert_eq!(color, json!({ "type": "string", "default": "red", "x-limit": 5 }));
}

#[test]
fn generic_types_with_constraints_and_several_bases() {
    let types = "interface Page<T extends object, C extends string = 'x'> { items: T[]; cursor: C }\n\
                 interface Named { name: string } interface Dated { at: string }\n\
                 interface Trip extends Named, Dated, Pick<Named & Dated, 'at'> { id: string }";
    let schema = returns(types, "Page<Trip>");
    assert_eq!(schema["$defs"]["Trip"]["required"], json!(["name", "at", "id"]));
    let page = schema["$defs"].as_object().unwrap().values().find(|it| it["title"] == "PageTripString").unwrap();
    assert_eq!(page["properties"]["cursor"], json!({ "type": "string", "const": "x" }));
}

/// Without the lists of members that name none: they are tested by themselves.
fn brief(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            members.retain(|key, value| key != "required" || value.as_array().is_none_or(|names| !names.is_empty()));
            members.values_mut().for_each(|member| *member = brief(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = brief(item.take())),
        _ => {}
    }
    schema
}

/// A type whose members are all optional says so: a result's schema without `required` would say less.
#[test]
fn all_optional_members_stay_optional() {
    let types = "interface Trip { id?: string }";
    for ty in ["Trip", "Partial<{ id: string }>", "{ id?: string }"] {
        let schema = returns(types, ty);
        let object = schema["$defs"].get("Trip").unwrap_or(&schema);
        assert_eq!(object["required"], json!([]), "{ty}: {schema}");
    }
}
