//! Interface with every supported type, and handlers that return their arguments.

use agent_spaces::{Engine, Handlers, Interfaces, Space};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

const WIT: &str = "package test:echo@1.0.0;
interface echo {
    use agent-spaces:host/types@0.1.0.{capability-error, json};
    enum color { red, green, deep-blue }
    flags rights { can-read, can-write, run }
    record point { x: s32, y-axis: option<s32>, label: string }
    variant figure {
        empty, dot(point), many(list<point>), maybe(option<list<point>>), raw(json),
        nested(list<option<tuple<color, rights>>>),
    }
    record scalars {
        flag: bool, a-u8: u8, a-u16: u16, a-u32: u32, a-u64: u64, a-s8: s8, a-s16: s16, a-s32: s32, a-s64: s64,
        a-f32: f32, a-f64: f64, a-char: char, text: string, bytes: list<u8>,
    }
    record everything {
        scalars: scalars, points: list<point>, maybe: option<string>,
        twice: option<option<u32>>, thrice: option<option<option<bool>>>,
        color: color, rights: rights, figure: figure, figures: option<list<figure>>, pair: tuple<u8, string, option<f64>>,
        outcome: result<u32, string>, outcomes: list<result<_, color>>, done: result,
        anything: json, perhaps: option<json>,
        matrix: list<list<f64>>, maybes: list<option<u16>>, blobs: list<list<u8>>, entries: list<tuple<string, json>>,
    }
    offered: async func() -> result<list<everything>, capability-error>;
    pass-on: async func(params: everything) -> result<everything, capability-error>;
    pass-on-now: func(params: everything) -> result<everything, capability-error>;
    several: async func(first: u64, second: list<figure>, third: option<json>)
        -> result<tuple<u64, list<figure>, option<json>>, capability-error>;
}";

/// Deep equality of what scripts see: BigInts, bytes, negative zero and odd keys included.
pub(crate) const SAME: &str = "function same(a, b) {
    if (Object.is(a, b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every(k => Object.hasOwn(b, k) && same(a[k], b[k]));
}";

/// A space with the interface, what it offers, and what it received.
pub(crate) struct Everything {
    pub(crate) space: Space,
    offered: Arc<Mutex<Vec<Value>>>,
    received: Arc<Mutex<Vec<Value>>>,
}

impl Everything {
    pub(crate) fn new(engine: Engine) -> Everything {
        let (offered, received) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::<Mutex<Vec<Value>>>::default());
        let mut handlers = Handlers::new();
        let offer = offered.clone();
        handlers.add("test:echo/echo@1.0.0", "offered", move |_| {
            let values = offer.lock().unwrap().clone();
            async move { Ok(Value::Array(values)) }
        });
        for name in ["pass-on", "pass-on-now"] {
            let receive = received.clone();
            handlers.add("test:echo/echo@1.0.0", name, move |call| {
                receive.lock().unwrap().push(call.params.clone());
                async move { Ok(call.params) }
            });
        }
        let receive = received.clone();
        handlers.add("test:echo/echo@1.0.0", "several", move |call| {
            receive.lock().unwrap().push(call.params.clone());
            let part = |name: &str| call.params.get(name).cloned().unwrap_or(Value::Null);
            let answer = json!([part("first"), part("second"), part("third")]);
            async move { Ok(answer) }
        });
        let mut interfaces = Interfaces::new().unwrap();
        interfaces.add("echo.wit", WIT).unwrap();
        let space = Space::builder(&engine).interfaces(interfaces, handlers).build().unwrap();
        Everything { space, offered, received }
    }

    /// Sets the answers of the next run, and clears what was received.
    pub(crate) fn offer(&self, values: Vec<Value>) {
        self.received.lock().unwrap().clear();
        *self.offered.lock().unwrap() = values;
    }

    /// The parameters of every call since the last offer.
    pub(crate) fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap().clone()
    }
}

/// A plain value of the record.
pub(crate) fn plain() -> Map<String, Value> {
    let plain = json!({
        "scalars": {"flag": false, "aU8": 0, "aU16": 0, "aU32": 0, "aU64": 0, "aS8": 0, "aS16": 0, "aS32": 0, "aS64": 0,
            "aF32": 0, "aF64": 0, "aChar": "a", "text": "", "bytes": ""},
        "points": [], "twice": {"tag": "none"}, "thrice": {"tag": "none"}, "color": "red",
        "rights": {"canRead": false, "canWrite": false, "run": false}, "figure": {"tag": "empty"}, "pair": [0, "", null],
        "outcome": {"tag": "ok", "val": 0}, "outcomes": [], "done": {"tag": "ok"}, "anything": null,
        "matrix": [], "maybes": [], "blobs": [], "entries": []
    });
    plain.as_object().cloned().unwrap()
}

/// A plain value but for one member.
pub(crate) fn plain_with(member: &str, value: Value) -> Value {
    let mut plain = plain();
    plain.insert(member.into(), value);
    Value::Object(plain)
}

/// Equality of JSON values, where 3 and 3.0 are the same number and 0 and -0 are not.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let integer =
                |number: &serde_json::Number| number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
            match (integer(left), integer(right)) {
                (Some(left), Some(right)) => left == right,
                _ => left.as_f64().map(f64::to_bits) == right.as_f64().map(f64::to_bits),
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        (left, right) => left == right,
    }
}
