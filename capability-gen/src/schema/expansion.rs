//! Limit on the expansion of references. A short schema may expand exponentially, so that no validator finishes, and a
//! long chain of references may overflow its stack. Such schemas are refused.

use super::SchemaError;
use super::cycles::{components, graph};
use super::keywords;
use super::limits::{MAX_CHAIN, MAX_EXPANDED};
use super::normal::Normal;
use crate::definition::Place;
use serde_json::Value;
use std::collections::HashMap;

/// Expanded size of a schema, counting all subschemas for the same value.
#[derive(Clone, Copy, Debug, Default)]
struct Expanded {
    schemas: usize,
    depth: usize,
}

/// Refuses schemas that expand too far.
pub(super) fn check(normal: &Normal, place: &Place) -> Result<(), SchemaError> {
    let (keys, edges) = graph(normal, super::cycles::in_place_references);
    let components = components(&edges);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|number| components[*number]);
    let mut known: HashMap<&str, Expanded> = HashMap::new();
    for number in order {
        let Some(schema) = normal.get(&keys[number]) else { continue };
        let expanded = measure(schema, &known);
        let message = if expanded.schemas > MAX_EXPANDED {
            format!("`{}` expands into more than {MAX_EXPANDED} schemas for one value", keys[number])
        } else if expanded.depth > MAX_CHAIN {
            format!("`{}` is behind a chain of more than {MAX_CHAIN} schemas for one value", keys[number])
        } else {
            known.insert(&keys[number], expanded);
            continue;
        };
        let fix = "refer to fewer definitions from `allOf`, `anyOf` and `oneOf`".to_owned();
        return Err(SchemaError { place: place.clone(), message, fix });
    }
    Ok(())
}

fn measure(schema: &Value, known: &HashMap<&str, Expanded>) -> Expanded {
    let Value::Object(map) = schema else { return Expanded { schemas: 1, depth: 1 } };
    let reference = map.get("$ref").and_then(Value::as_str).and_then(|key| known.get(key)).copied();
    let parts = keywords::in_place(map).map(|part| measure(part, known)).chain(reference);
    let all = parts.fold(Expanded::default(), |all, part| Expanded {
        schemas: all.schemas.saturating_add(part.schemas),
        depth: all.depth.max(part.depth),
    });
    Expanded { schemas: all.schemas.saturating_add(1), depth: all.depth + 1 }
}
