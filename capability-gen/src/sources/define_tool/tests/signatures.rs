//! Signatures of a script's default function.

use super::super::{no_files, signature};
use serde_json::json;

#[test]
fn the_types_of_a_default_function_are_its_schemas() {
    let text = "import { desk } from '@capabilities/desk';
        interface Params { /** The day */ day: string; n?: number }
        /** A report of one day. */
        export default async function (params: Params): Promise<{ title: string; lines: string[] }> { return await desk.x(params); }";
    let found = signature("daily.ts", text, &no_files).unwrap();
    assert_eq!(found.description, "A report of one day.");
    assert_eq!(found.parameters["properties"]["day"], json!({ "type": "string", "description": "The day" }));
    assert_eq!(found.parameters["required"], json!(["day"]));
    assert_eq!(found.returns.unwrap()["required"], json!(["title", "lines"]));
    for (text, takes) in [
        ("export default () => 1", json!({})),
        ("export default async ({ a }: { a: boolean }) => a;", json!({ "a": { "type": "boolean" } })),
        (
            "export default (async (it: { b: 'x' | 'y' }) => it.b);",
            json!({ "b": { "type": "string", "enum": ["x", "y"] } }),
        ),
    ] {
        assert_eq!(signature("a.ts", text, &no_files).unwrap().parameters["properties"], takes, "{text}");
    }
}

#[test]
fn other_default_exports_are_refused_with_a_fix() {
    for (text, message) in [
        ("export default 1;", "the script's default export is not a function"),
        ("export const a = 1;", "the script's default export is not a function"),
        ("export default (a, b) => 1;", "the script's function takes several parameters"),
        ("export default (a) => 1;", "the parameter has no type"),
        ("export default (a: string) => 1;", "the parameter is not an object"),
        ("export default (...a: string[]) => 1;", "the script's function takes any number of parameters"),
    ] {
        let error = signature("a.ts", text, &no_files).unwrap_err();
        assert_eq!(error.message, message, "{text}");
        assert!(!error.fix.is_empty());
    }
}
