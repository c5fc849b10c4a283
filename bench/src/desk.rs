//! Capability `desk` that workloads call; `workloads/README.md` has the formulas of its answers.

use agent_spaces::{Call, CapabilityError, Engine, Handlers, Interfaces, Package, PackageOutline, Space};
use anyhow::{Context, Result};
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::parse_value;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const DEFINITION: &str = include_str!("../workloads/desk.json");
const CITIES: [&str; 5] = ["Aarhus", "Bergen", "Cork", "Delft", "Evora"];
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// Space with only the desk.
pub(crate) fn space(engine: &Engine) -> Result<Space> {
    let definitions = parse_value("desk.json", &serde_json::from_str(DEFINITION)?, None, None)?;
    let module = compile(ModuleSource { specifier: None, stem: None, definitions })?;
    let outline = PackageOutline::of(&module);
    let interface = outline.interfaces.first().context("the desk has no interface")?;
    let kept = Kept::default();
    let mut handlers = Handlers::new();
    handlers.add_interface(&interface.name, move |call| {
        let kept = kept.clone();
        async move { answer(call, &kept).await }
    });
    let mut interfaces = Interfaces::new()?;
    interfaces.add_package(Package::new(module))?;
    Ok(Space::builder(engine).interfaces(interfaces, handlers).build()?)
}

async fn answer(call: Call, kept: &Kept) -> Result<Value, CapabilityError> {
    let number = |name: &str| call.params[name].as_u64().unwrap_or_default();
    Ok(match &*call.function {
        "trains" => json!({ "trains": trains(&call.params["to"]) }),
        "train" => {
            json!({ "id": call.params["id"], "operator": "Northern Line", "stops": ["Harbour", "Mill", "Lakeside"] })
        }
        "note" => call.params,
        "records" => kept.once(
            "records",
            number("count"),
            |count| json!({ "records": (0..count).map(record).collect::<Vec<_>>() }),
        ),
        "text" => kept.once("text", number("bytes"), |bytes| {
            let text = LETTERS.iter().cycle().take(bytes as usize).map(|letter| char::from(*letter));
            json!({ "text": text.collect::<String>() })
        }),
        "wait" => {
            tokio::time::sleep(Duration::from_millis(number("milliseconds"))).await;
            call.params
        }
        other => return Err(CapabilityError::failed(format!("the desk has no {other}"))),
    })
}

fn trains(to: &Value) -> Vec<Value> {
    let train = |(i, hour): (usize, u64)| {
        let (minute, platform) = (i * 13 % 60, (1 + i % 4).to_string());
        json!({ "id": format!("train-{i}"), "hour": hour, "minute": minute, "destination": to, "platform": platform })
    };
    [5, 8, 11, 14, 17, 20].into_iter().enumerate().map(train).collect()
}

fn record(i: u64) -> Value {
    json!({
        "id": i,
        "name": format!("name-{i}"),
        "city": CITIES[i as usize % CITIES.len()],
        "score": i * 7919 % 1000,
        "active": i.is_multiple_of(3),
        "tags": [format!("t{}", i % 10), format!("u{}", i % 7)],
    })
}

/// Large answers, cached by size: generating them is not part of any sandbox.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<HashMap<(&'static str, u64), Value>>>);

impl Kept {
    fn once(&self, kind: &'static str, size: u64, make: impl FnOnce(u64) -> Value) -> Value {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry((kind, size)).or_insert_with(|| make(size)).clone()
    }
}
