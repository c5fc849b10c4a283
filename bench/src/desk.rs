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
const STATUSES: [&str; 4] = ["paid", "open", "paid", "cancelled"];
const SERVICES: [&str; 5] = ["api", "auth", "billing", "search", "mail"];
const CAUSES: [&str; 3] = ["timeout", "connection refused", "disk full"];
const PATHS: [&str; 3] = ["orders", "users", "files"];
const ITEMS_OF_SHELF: u64 = 100;
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
        "purchases" => kept.once(
            "purchases",
            number("count"),
            |count| json!({ "purchases": (0..count).map(purchase).collect::<Vec<_>>() }),
        ),
        "document" => kept.once("document", number("items"), |items| json!({ "text": document(items) })),
        "log" => kept.once(
            "log",
            number("lines"),
            |lines| json!({ "text": (0..lines).map(line).collect::<Vec<_>>().join("\n") }),
        ),
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

fn purchase(i: u64) -> Value {
    json!({
        "record": i * 7907 % 10_000,
        "amount": (i * 613 % 8000) as f64 / 4.0,
        "day": format!("2026-{:02}-{:02}", 1 + i % 12, 1 + i % 28),
        "status": STATUSES[i as usize % STATUSES.len()],
    })
}

/// JSON, written letter by letter as the peers' host writes it.
fn document(items: u64) -> String {
    let shelf = |shelf: u64| {
        let first = shelf * ITEMS_OF_SHELF;
        let own: Vec<String> = (first..items.min(first + ITEMS_OF_SHELF)).map(item).collect();
        format!(r#"{{"name":"shelf {shelf}","items":[{}]}}"#, own.join(","))
    };
    let shelves: Vec<String> = (0..items.div_ceil(ITEMS_OF_SHELF)).map(shelf).collect();
    format!(r#"{{"version":1,"shelves":[{}]}}"#, shelves.join(","))
}

fn item(i: u64) -> String {
    let (price, in_stock) = ((i * 37 % 4000) as f64 / 4.0, !i.is_multiple_of(3));
    let note = if i.is_multiple_of(5) { "null".to_owned() } else { format!(r#""fragile, lot {i}""#) };
    let (tag, other, width, height) = (i % 10, i % 7, i % 50, i % 70);
    format!(
        r#"{{"id":{i},"title":" Item {i} of \"the shop\" ","price":{price},"inStock":{in_stock},"tags":["t{tag}","u{other}"],"size":{{"width":{width},"height":{height}}},"note":{note}}}"#
    )
}

fn line(i: u64) -> String {
    let level = match i {
        i if i.is_multiple_of(50) => "ERROR",
        i if i.is_multiple_of(10) => "WARN",
        i if i.is_multiple_of(3) => "DEBUG",
        _ => "INFO",
    };
    let (day, hour, minute, second) = (1 + i / 86_400 % 28, i / 3600 % 24, i / 60 % 60, i % 60);
    let service = SERVICES[i as usize * 7 % SERVICES.len()];
    let head = format!("2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}Z {level} [{service}]");
    let (took, user) = (i * 7919 % 2000, i * 31 % 997);
    if level == "ERROR" {
        let cause = CAUSES[i as usize / 50 % CAUSES.len()];
        return format!("{head} request r{i} failed after {took}ms: {cause} (user{user}@example.org)");
    }
    let (path, status) = (PATHS[i as usize % PATHS.len()], if level == "WARN" { 503 } else { 200 });
    format!("{head} GET /v1/{path}/{} {status} in {took}ms user{user}@example.org", i % 1000)
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

#[cfg(test)]
mod tests {
    use super::{document, line};
    use serde_json::Value;

    #[test]
    fn texts_are_those_of_the_peers() {
        assert_eq!(
            line(0),
            "2026-03-01T00:00:00Z ERROR [api] request r0 failed after 0ms: timeout (user0@example.org)"
        );
        assert_eq!(line(1), "2026-03-01T00:00:01Z INFO [billing] GET /v1/users/1 200 in 1919ms user31@example.org");
        let text = document(6600);
        // The length that the expected answer of `agent-json` has.
        assert_eq!(text.len(), 1_014_485);
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
}
