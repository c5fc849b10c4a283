//! How many schemas decide on one value. References let a short schema unfold into a number that no validator
//! ends with, and a long row of them into one that no stack holds: such a schema is refused.

use super::SchemaError;
use super::cycles::{components, graph};
use super::keywords;
use super::limits::{MAX_CHAIN, MAX_UNFOLDED};
use super::normal::Normal;
use crate::definition::Place;
use serde_json::Value;
use std::collections::HashMap;

/// Of a schema, everything in it counted that is for the same value.
#[derive(Clone, Copy, Debug, Default)]
struct Unfolded {
    schemas: usize,
    depth: usize,
}

/// Refuses what unfolds too far.
pub(super) fn check(normal: &Normal, place: &Place) -> Result<(), SchemaError> {
    let (keys, edges) = graph(normal, super::cycles::in_place_references);
    let components = components(&edges);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|number| components[*number]);
    let mut known: HashMap<&str, Unfolded> = HashMap::new();
    for number in order {
        let Some(schema) = normal.get(&keys[number]) else { continue };
        let unfolded = measure(schema, &known);
        let message = if unfolded.schemas > MAX_UNFOLDED {
            format!("`{}` unfolds into more than {MAX_UNFOLDED} schemas for one value", keys[number])
        } else if unfolded.depth > MAX_CHAIN {
            format!("`{}` lies behind more than {MAX_CHAIN} schemas for one value", keys[number])
        } else {
            known.insert(&keys[number], unfolded);
            continue;
        };
        let fix = "refer to fewer definitions from `allOf`, `anyOf` and `oneOf`".to_owned();
        return Err(SchemaError { place: place.clone(), message, fix });
    }
    Ok(())
}

fn measure(schema: &Value, known: &HashMap<&str, Unfolded>) -> Unfolded {
    let Value::Object(map) = schema else { return Unfolded { schemas: 1, depth: 1 } };
    let reference = map.get("$ref").and_then(Value::as_str).and_then(|key| known.get(key)).copied();
    let parts = keywords::in_place(map).map(|part| measure(part, known)).chain(reference);
    let all = parts.fold(Unfolded::default(), |all, part| Unfolded {
        schemas: all.schemas.saturating_add(part.schemas),
        depth: all.depth.max(part.depth),
    });
    Unfolded { schemas: all.schemas.saturating_add(1), depth: all.depth + 1 }
}
