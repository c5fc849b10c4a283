//! `index.js`, `schema.json` and `bundle.json`.

use crate::emit::models;
use capability_gen::emit::{bundle::bundle, dts::dts, js::js, schema_json::schema_json};
use serde_json::{Value, json};

#[test]
fn index_js_is_a_proxy_without_descriptions() {
    assert_eq!(
        js(&models::train_schedule()),
        "\
import { createCapabilityProxy } from '@agent-spaces/runtime';

export const trainSchedule = createCapabilityProxy('trainSchedule', {
  getSchedule: {
    handler: 'trainSchedule.getSchedule',
    schema: { type: 'object', properties: { station: { type: 'string' } }, additionalProperties: false },
  },
  getTrainDetails: {
    handler: 'trainSchedule.getTrainDetails',
    schema: { type: 'object', additionalProperties: false },
  },
});
"
    );
    assert!(js(&models::weather()).contains("export const { getWeather } = createCapabilityProxy('weather', {\n"));
}

/// The source's data reaches `schema.json` unchanged, in the source's order.
#[test]
fn schema_json_contains_the_sources_data() {
    let mut module = models::train_schedule();
    module.capabilities[0].functions[0].description = "a\u{202e}b".to_owned();
    let text = schema_json(&module);
    assert!(text.ends_with("}\n") && !text.contains('\u{202e}'), "{text}");
    let spec: Value = serde_json::from_str(&text).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let capability = &spec["capabilities"][0];
    let function = &capability["functions"][0];
    assert_eq!(keys(&spec), "module specifier version capabilities");
    assert_eq!(keys(capability), "name export interface description version source config functions");
    assert_eq!(keys(function), "id name jsName witName description parameters returns schema annotations config");
    assert_eq!(function["id"], "trainSchedule.getSchedule");
    assert_eq!(function["description"], "a\u{202e}b");
    assert_eq!(function["parameters"], module.capabilities[0].functions[0].source_parameters);
    assert_eq!(function["returns"], json!({"type": "array"}));
    assert_eq!(capability["config"]["rateLimit"], json!({"requests": 100, "period": "minute"}));
}

#[test]
fn bundle_pins_every_file() {
    let module = models::train_schedule();
    let first = bundle(&module, "package capabilities:train-schedule@1.0.0;\n");
    let paths: Vec<&str> = first.files.iter().map(|(path, _)| path.as_str()).collect();
    let host = "deps/agent-spaces-host.wit";
    assert_eq!(paths, ["bundle.json", host, "index.d.ts", "index.js", "schema.json", "train-schedule.wit"]);
    let metadata: Value = serde_json::from_str(&first.files[0].1).unwrap();
    assert_eq!(metadata["name"], "train-schedule");
    assert_eq!(metadata["version"], "1.0.0");
    assert_eq!(metadata["source"], "tool");
    assert_eq!(metadata["dependencies"], json!(["@agent-spaces/runtime"]));
    assert_eq!(metadata["config"]["trainSchedule"]["requiresApproval"], false);
    assert_eq!(metadata["files"].as_object().unwrap().len(), 5);
    assert_eq!(metadata["hash"], first.hash);
    assert_eq!(first.hash.len(), "sha256:".len() + 64);

    assert_eq!(bundle(&module, "package capabilities:train-schedule@1.0.0;\n"), first);
    assert_ne!(bundle(&module, "package capabilities:train-schedule@1.0.1;\n").hash, first.hash);
    let mut changed = module.clone();
    changed.capabilities[0].functions[1].source_returns = Some(json!({}));
    assert_ne!(bundle(&changed, "package capabilities:train-schedule@1.0.0;\n").hash, first.hash);
}

/// Output grows linearly with the number of functions; quadratic work would not end.
#[test]
fn big_modules_are_linear() {
    let module_of = |count: usize| {
        let types = (0..count)
            .map(|index| {
                let fields = (0..20).map(|field| models::required(&format!("f{field}"), models::named(index / 2)));
                models::definition(&format!("Type{index}"), models::record(fields.collect()))
            })
            .collect();
        let functions = (0..count).map(|index| {
            models::function(&format!("function{index}"), models::named(index), Some(models::named(count - 1 - index)))
        });
        let source = capability_gen::definition::SourceKind::Mcp;
        models::module("big", vec![models::capability("big", source, functions.collect())], types)
    };
    let small = dts(&module_of(2_000)).len();
    let large = bundle(&module_of(20_000), "");
    assert!(large.files[1].1.len() < small * 12);
}

/// Excessive nesting ends in `unknown` instead of overflowing a parser's stack.
#[test]
fn deep_types_end() {
    let mut deep =
        models::record(vec![models::required("leaf", models::list(models::list(capability_gen::model::Type::Null)))]);
    for _ in 0..2_000 {
        deep = models::record(vec![models::required("inner", deep)]);
    }
    let functions = vec![models::function("f", deep, None)];
    let source = capability_gen::definition::SourceKind::Tool;
    let text = dts(&models::module("deep", vec![models::capability("deep", source, functions)], Vec::new()));
    assert!(text.contains("inner: unknown;") && text.len() < 20_000, "{}", text.len());
}

/// Declarations may be wider than a schema, never narrower, even if TypeScript cannot express it.
#[test]
fn circular_aliases_stay_wide() {
    let text = dts(&models::torture());
    for line in [
        "export type Tree = string | null | Tree[] | { [key: string]: Tree };",
        "export type Circular = string;",
        "export type Round = AndRound | string;",
        "export type AndRound = unknown | number;",
        "export type Nothing = unknown;",
        "[key: string]: boolean | string | number | undefined;",
        "tuple: [number, (string | null)?, boolean?, ...(null | Kinds)[]];",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}
