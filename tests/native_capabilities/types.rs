//! Mapping of Rust types to scripts.

use super::{script, space};
use agent_spaces::{Capability, CapabilityError, Extension, Handlers, Interfaces, TypedCall};
use agent_spaces_tests::value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// All sorts of types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Everything {
    /// The name of it
    some_text: String,
    number: f64,
    small: u8,
    signed: i64,
    is_on: bool,
    maybe: Option<String>,
    list: Vec<Part>,
    pair: (String, u32),
    map: BTreeMap<String, i32>,
    color: Color,
    shape: Shape,
    any: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Part {
    id: u32,
    /// More of them
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    /// As the sky
    Blue,
    Red,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

fn everything() -> Value {
    json!({
        "someText": "é\n\u{1f600}", "number": 1.5, "small": 255, "signed": -9_007_199_254_740_991_i64, "isOn": true,
        "maybe": null, "list": [{ "id": 1, "parts": [{ "id": 2, "parts": [] }] }], "pair": ["a", 7],
        "map": { "odd name": -1 }, "color": "blue", "shape": { "kind": "circle", "radius": 2.5 },
        "any": { "x": [null, "y"] }
    })
}

fn echo() -> Capability {
    let echo = Capability::new("echo").description("Gives back what it is given").version("2.1.0");
    echo.function("give_back", "The same again", |all: Everything| async move { Ok::<_, CapabilityError>(all) })
        .function("count", "How many there are", |(): ()| async move { Ok::<_, CapabilityError>(3_u32) })
        .function("forget", "Gives nothing", |part: Part| async move {
            drop(part);
            Ok::<_, CapabilityError>(())
        })
}

#[tokio::test]
async fn every_kind_of_type_round_trips() {
    let space = space([echo()]);
    let body = format!("export default await echo.giveBack({})", everything());
    assert_eq!(value(&space, &script("echo", &body)).await, everything());
    let mut absent = everything();
    absent.as_object_mut().unwrap().remove("maybe");
    let body = format!("export default await echo.giveBack({absent})");
    assert_eq!(value(&space, &script("echo", &body)).await, everything());
    let body = "export default [await echo.count(), (await echo.forget({ id: 1, parts: [] })) ?? 'nothing']";
    assert_eq!(value(&space, &script("echo", body)).await, json!([3, "nothing"]));
}

#[test]
fn declarations_and_wit_match_the_types() {
    let declarations = echo().declarations().unwrap();
    for expected in [
        "declare module '@capabilities/echo'",
        "The name of it",
        "someText: string",
        "maybe?: string | null",
        "\"blue\"",
        "radius: number",
        "More of them",
        "count(): Promise<number>",
    ] {
        let quoted = expected.replace('"', "'");
        assert!(declarations.contains(expected) || declarations.contains(&quoted), "{expected}: {declarations}");
    }
    let wit = echo().wit().unwrap();
    assert!(wit.contains("package capabilities:echo@2.1.0;") && wit.contains("give-back:"), "{wit}");
}

#[tokio::test]
async fn a_host_can_call_it_like_a_script() {
    let space = space([echo()]);
    let call = TypedCall::<Everything>::new("echo", "giveBack", &everything()).unwrap();
    assert_eq!(serde_json::to_value(space.call(call).await.unwrap()).unwrap(), everything());
}

#[tokio::test]
async fn several_capabilities_coexist() {
    let named = |name: &'static str| {
        Capability::new(name).function("who", "Its name", move |(): ()| async move { Ok::<_, CapabilityError>(name) })
    };
    let space = space([named("first"), named("second"), named("third").module("@company/internal-sdk")]);
    let source = "import { first } from '@capabilities/first'; import { second } from '@capabilities/second';
        import { third } from '@company/internal-sdk';
        export default [await first.who(), await second.who(), await third.who()]";
    assert_eq!(value(&space, source).await, json!(["first", "second", "third"]));
}

#[test]
fn an_invalid_capability_is_refused_and_adds_nothing() {
    let ok = |_: Part| async move { Ok::<_, CapabilityError>(1) };
    let refused = |capability: Capability| {
        let (mut interfaces, mut handlers) = (Interfaces::new().unwrap(), Handlers::new());
        let error = capability.add_to(&mut interfaces, &mut handlers).unwrap_err().to_string();
        assert_eq!(interfaces.names().count(), 0);
        error
    };
    assert!(refused(Capability::new("empty")).contains("no functions: a module needs at least one"));
    let twice = Capability::new("twice").function("do", "a", ok).function("do", "b", ok);
    assert!(refused(twice).contains("`do` is defined twice"));
    let text = Capability::new("text").function("do", "", |_: String| async move { Ok::<_, CapabilityError>(1) });
    assert!(refused(text).contains("parameters must be an object"));
    assert!(refused(Capability::new("m").module("no module").function("do", "", ok)).contains("invalid module name"));

    let (mut interfaces, mut handlers) = (Interfaces::new().unwrap(), Handlers::new());
    Capability::new("same").function("do", "", ok).add_to(&mut interfaces, &mut handlers).unwrap();
    let again = Capability::new("same").function("do", "", ok).add_to(&mut interfaces, &mut handlers);
    assert!(again.unwrap_err().to_string().contains("would both be `same`"));
}
