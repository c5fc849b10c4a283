//! Syntactic forms of a definition.

use super::{definition, file, read};
use crate::definition::{Period, RateLimit};
use serde_json::json;

#[test]
fn exports_of_every_kind() {
    let body = "({ functions: { run: { handler } } })";
    let text = format!(
        "import {{ defineTool as define }} from '@agent-spaces/capabilities';\n\
         import * as capabilities from '@agent-spaces/capabilities';\n\
         import {{ handler }} from './handlers';\n\
         export const first = define{body}, second = capabilities.defineTool{body};\n\
         const third = define{body}; const fourth = (define{body} as const);\n\
         export {{ third as renamed, fourth }};\n\
         export default define({{ name: 'fifth', functions: {{ run: {{ handler() {{}} }} }} }});\n"
    );
    let names: Vec<(String, String)> =
        read(&text).into_iter().map(|tool| (tool.export, tool.definition.name)).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|(export, name)| (export.as_str(), name.as_str())).collect();
    assert_eq!(
        pairs,
        [("first", "first"), ("second", "second"), ("renamed", "renamed"), ("fourth", "fourth"), ("default", "fifth")]
    );
}

#[test]
fn a_constant_that_is_the_default_export() {
    let text = "import { defineTool } from '@agent-spaces/capabilities';\n\
                const notes = defineTool({ name: 'notes', functions: { add: { handler: () => 1 } } });\n\
                export default notes;\n";
    assert_eq!(read(text)[0].export, "default");
}

#[test]
fn values_of_every_kind() {
    let declarations = "const DEFAULTS = { minimum: -5, maximum: +5 } as const;\n\
                        const LEVELS = ['low', `high`] satisfies string[];\n\
                        const description = 'From a constant';";
    let members = "description, title: (`A title`), parameters: {\n\
                     number: { type: 'number', ...DEFAULTS, maximum: 1e3, default: null },\n\
                     level: <const>{ type: 'string', enum: [...LEVELS, 'other'], 'x-empty': undefined, optional: true },\n\
                     ['a b']: { type: 'boolean', default: false },\n\
                     0: { type: ['string', 'null'], examples: [1.5, true, {}, []] },\n\
                   }";
    let definition = definition(&file(declarations, members));
    let function = &definition.functions[0];
    assert_eq!((function.title.as_deref(), function.description.as_str()), (Some("A title"), "From a constant"));
    assert_eq!(
        function.parameters,
        json!({
            "type": "object",
            "properties": {
                "number": { "type": "number", "minimum": -5, "maximum": 1000, "default": null },
                "level": { "type": "string", "enum": ["low", "high", "other"] },
                "a b": { "type": "boolean", "default": false },
                "0": { "type": ["string", "null"], "examples": [1.5, true, {}, []] },
            },
            "required": ["0"],
        })
    );
    assert_eq!(function.returns, None);
}

#[test]
fn functions_and_settings_from_constants() {
    let text = "import { defineTool } from '@agent-spaces/capabilities';\n\
        const shared = { requiresApproval: true, scopes: ['crm:write'], handler: run };\n\
        const add = { ...shared, approvalMessage: 'Add {{name}}?', rateLimit: { requests: 1, period: 'day' } };\n\
        async function run() {}\n\
        export const crm = defineTool({ version: '2.1.0', owner: 'sales', functions: {\n\
          add, remove: { ...shared, requiresApproval: false, config: { approvalMessage: function () { return '' } },\n\
          annotations: { destructiveHint: true } }, list: { handler: run } },\n\
          config: { approvalMessage: ask } });\n\
        function ask() { return 'Sure?'; }\n";
    let tools = read(text);
    let definition = &tools[0].definition;
    assert_eq!((definition.version.as_deref(), definition.owner.as_deref()), (Some("2.1.0"), Some("sales")));
    let [add, remove, list] = definition.functions.as_slice() else { panic!("{definition:#?}") };
    assert_eq!(add.config.approval_message.as_deref(), Some("Add {{name}}?"));
    assert_eq!(add.config.rate_limit, Some(RateLimit { requests: 1, period: Period::Day }));
    assert_eq!((add.config.requires_approval, remove.config.requires_approval), (Some(true), Some(false)));
    assert_eq!(remove.config.scopes, ["crm:write"]);
    assert_eq!(remove.annotations.destructive_hint, Some(true));
    assert_eq!(list.parameters, json!({ "type": "object", "properties": {} }));
    assert_eq!(tools[0].computed_approval_messages, ["remove", "list"]);
    assert!(definition.notes.is_empty(), "{definition:#?}");
}

#[test]
fn results_of_every_kind() {
    let types = "interface Trip { id: string }\n";
    let returns = |value: &str| definition(&file(types, &format!("returns: {value}"))).functions.remove(0).returns;
    let trip = returns("{} as Trip");
    assert!(trip.is_some());
    for same in [
        "null as unknown as Trip",
        "undefined! as Trip",
        "undefined as unknown as Trip",
        "<Trip>{}",
        "({} as Trip)",
        "{ id: 'x' } as Trip",
        "{} as Promise<Trip>",
    ] {
        assert_eq!(returns(same), trip, "{same}");
    }
    assert_eq!(returns("[] as Trip[]").unwrap()["items"], json!({ "$ref": "#/$defs/Trip" }));
    assert_eq!(
        returns("{ type: 'array', items: { type: 'string' } }"),
        Some(json!({ "type": "array", "items": { "type": "string" } }))
    );
    assert_eq!(returns("{ type: 'integer' } as JSONSchema"), Some(json!({ "type": "integer" })));
    assert_eq!(returns("'string'"), Some(json!({ "type": "string" })));
    assert_eq!(returns("undefined"), None);
    let flat = json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] });
    assert_eq!(returns("{ id: { type: 'string' } }"), Some(flat));
}

#[test]
fn parameters_from_a_type() {
    let types = "interface Search { query: string; limit?: number }";
    let parameters = definition(&file(types, "parameters: {} as Search")).functions.remove(0).parameters;
    assert_eq!(parameters["$defs"]["Search"]["required"], json!(["query"]));
}
