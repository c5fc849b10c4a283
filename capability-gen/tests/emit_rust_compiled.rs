//! Generated Rust code compiles, and values round-trip through its types.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]
#![deny(warnings)]

/// The generated files refer to the host library; this crate replaces it here.
extern crate self as agent_spaces;

#[rustfmt::skip]
#[path = "generated/everything.rs"]
mod everything;
#[rustfmt::skip]
#[path = "generated/train_schedule.rs"]
mod train_schedule;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::marker::PhantomData;

/// Stub of the host library's type.
pub struct TypedCall<R> {
    capability: &'static str,
    function: &'static str,
    params: Value,
    result: PhantomData<R>,
}

impl<R: DeserializeOwned> TypedCall<R> {
    fn new(
        capability: &'static str,
        function: &'static str,
        params: &impl serde::Serialize,
    ) -> Result<TypedCall<R>, serde_json::Error> {
        Ok(TypedCall { capability, function, params: serde_json::to_value(params)?, result: PhantomData })
    }

    fn read(&self, result: Value) -> Result<R, serde_json::Error> {
        let PhantomData = self.result;
        serde_json::from_value(result)
    }
}

fn round_trip<T: DeserializeOwned + serde::Serialize>(value: Value) {
    let typed: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"));
    assert_eq!(serde_json::to_value(typed).unwrap(), value);
}

#[test]
fn a_call_is_built_and_its_result_read() {
    use train_schedule::{GetScheduleParams, GetScheduleParamsClass, train_schedule as calls};
    let params = GetScheduleParams {
        from: "Basel".to_owned(),
        to: "Bern".to_owned(),
        depart_after: Some(None),
        max_results: None,
        class: Some(GetScheduleParamsClass::Second),
    };
    let call = calls::get_schedule(&params).unwrap();
    assert_eq!((call.capability, call.function), ("trainSchedule", "getSchedule"));
    assert_eq!(call.params, json!({"from": "Basel", "to": "Bern", "departAfter": null, "class": "second"}));
    let trips = call
        .read(json!([{"id": "1", "price": null, "stops": [{"station": "Olten", "minutes": 3}], "platform": 4}]))
        .unwrap();
    assert_eq!(trips[0].extras["platform"], 4);
    assert_eq!(trips[0].stops.as_ref().unwrap()[0].minutes, 3);
    assert!(call.read(json!([{"id": "1"}])).is_err(), "a required member may be null, not absent");
    assert_eq!(calls::list_stations().unwrap().params, json!({}));
}

/// MCP resources and prompts are called by their names in scripts.
#[test]
fn resources_and_prompts_are_typed() {
    use everything::serde2::{prompts, resources};
    let call = resources::read("demo://x").unwrap();
    assert_eq!((call.capability, call.function), ("every\"thing.$resources", "read"));
    assert_eq!(call.params, json!({"uri": "demo://x"}));
    let answer = json!({"contents": [{"uri": "demo://x", "mimeType": "image/png", "blob": "AAH/", "_meta": {"a": 1}}]});
    let read = call.read(answer.clone()).unwrap();
    assert_eq!((read.contents[0].blob.as_deref(), &read.contents[0].extras["_meta"]), (Some("AAH/"), &json!({"a": 1})));
    round_trip::<resources::ResourceAnswer>(answer);
    round_trip::<resources::ResourceEntry>(json!({"uri": "demo://x", "name": "x", "size": 3, "icons": []}));
    round_trip::<resources::ResourceTemplate>(json!({"uriTemplate": "demo://{id}", "name": "x", "title": "X"}));
    round_trip::<prompts::Prompt>(json!({"name": "x", "arguments": [{"name": "a", "required": true}]}));
    round_trip::<prompts::PromptAnswer>(json!({"messages": []}));
    let call = prompts::get("x", &serde_json::Map::from_iter([("a".to_owned(), json!("b"))])).unwrap();
    assert_eq!((call.capability, call.function), ("every\"thing.$prompts", "get"));
    assert_eq!(call.params, json!({"name": "x", "arguments": {"a": "b"}}));
    assert_eq!(prompts::list().unwrap().params, resources::list().unwrap().params);
    assert_eq!(resources::templates().unwrap().function, "templates");
}

#[test]
fn values_round_trip() {
    use train_schedule::{GetScheduleParams, Trip};
    round_trip::<GetScheduleParams>(json!({"from": "a", "to": "b"}));
    round_trip::<GetScheduleParams>(json!({"from": "a", "to": "b", "departAfter": null}));
    round_trip::<Trip>(json!({"id": "1", "price": 1.5, "type": "express", "new": {"deep": [1]}}));
    assert!(serde_json::from_value::<GetScheduleParams>(json!({"from": "a", "to": "b", "other": 1})).is_err());

    let names: Vec<&str> = vec![
        "type",
        "self",
        "",
        "If-Match",
        "a b",
        "aB",
        "a_b",
        "extras",
        "\"; } fn evil() {",
        "*/",
        "日本",
        "1",
        "Self",
    ];
    round_trip::<everything::Option2>(names.iter().map(|name| ((*name).to_owned(), json!(1))).collect());
    for text in ["", "a", "A", "self", "reactions-+1", "reactions--1", "\"\\\n", "日本"] {
        round_trip::<everything::Value2>(json!(text));
    }
    round_trip::<everything::Tree>(json!({"children": [{"children": []}], "parent": {"children": []}}));
    round_trip::<everything::Shape>(json!({"kind": "square", "value": null}));
    let everything = |members: Value| {
        let mut value = json!({
            "any": null, "null": null, "boolean": true, "numbers": 2, "mixed": "a", "pair": ["a", 1], "loose": ["a"],
            "map": {"k": {"deep": ["x"]}}, "union": [true], "overlapping": {"a": 1}, "textual": "anything",
            "maybeRequired": null, "expression": {"or": ["a", ["b"]]}, "left": {"right": {"left": null}}, "nested": [[], [[]]]
        });
        value.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        value
    };
    round_trip::<everything::Everything>(everything(json!({})));
    round_trip::<everything::Everything>(everything(
        json!({"anyOptional": null, "number": 1.5, "maybe": null, "shape": null,
        "nullableUnion": null, "union": {"x": 1.0}, "one more": 7}),
    ));
    round_trip::<everything::Everything>(everything(
        json!({"anyOptional": [1], "maybe": "a", "shape": {"kind": "circle", "value": 1},
        "nullableUnion": 3, "union": 3}),
    ));
    assert_eq!(
        everything::serde2::r#type(&serde_json::from_value(everything(json!({}))).unwrap()).unwrap().function,
        "slack_\"quoted\"\\"
    );
    assert_eq!(everything::serde2::nothing().unwrap().read(json!(null)).unwrap(), None);
}
