//! Conversion between component values and JSON.
//!
//! Handlers use JSON; components use WIT types. A [`Shape`](agent_spaces_types::shape::Shape) describes the mapping,
//! and is built once for each function when its interface is parsed. Scripts see the same mapping, so a handler
//! receives exactly what a script passes:
//!
//! | WIT | JSON |
//! |---|---|
//! | `bool`, integers, floats, `string`, `char` | boolean, number, number, string, string |
//! | `json` (the alias of `string`) | the value itself |
//! | `record` | object with camelCase members; a `none` member is left out |
//! | `list`, `tuple` | array |
//! | `list<u8>` | base64 text |
//! | `option` | the value or `null`; one directly inside another: `{"tag":"some","val":…}` |
//! | `enum` | the case's name |
//! | `variant`, `result` | `{"tag":…,"val":…}` |
//! | `flags` | object of booleans |
//!
//! Types of a compiled capability differ: members have the names of their schema, absent and null are distinct,
//! undeclared members are in one field, unions have no tags.

mod from_json;
mod to_json;

pub use from_json::{Mismatch, exact, from_json};
pub use to_json::{NotJson, to_json};

use wasmtime::component::Val;

/// Bytes of a component value inside a list, without the data it points to.
const VAL_BYTES: u64 = size_of::<Val>() as u64;

/// Allocator overhead of each block: header and rounding.
const BLOCK_BYTES: u64 = 16;

/// Returns the memory of component values. Their types bound the recursion.
pub fn memory_of(values: &[Val]) -> u64 {
    values.iter().map(|value| VAL_BYTES + beyond(value)).sum()
}

/// Returns the memory of the data that a value points to.
fn beyond(value: &Val) -> u64 {
    let text = |text: &String| text.len() as u64 + BLOCK_BYTES;
    let boxed = |value: &Val| BLOCK_BYTES + VAL_BYTES + beyond(value);
    match value {
        Val::String(name) | Val::Enum(name) => text(name),
        Val::List(items) | Val::Tuple(items) => BLOCK_BYTES + memory_of(items),
        Val::Record(members) => {
            let member =
                |(name, value): &(String, Val)| size_of_val(name) as u64 + text(name) + VAL_BYTES + beyond(value);
            BLOCK_BYTES + members.iter().map(member).sum::<u64>()
        }
        Val::Variant(name, payload) => text(name) + payload.as_deref().map_or(0, boxed),
        Val::Option(Some(value)) | Val::Result(Ok(Some(value)) | Err(Some(value))) => boxed(value),
        Val::Flags(names) => BLOCK_BYTES + names.iter().map(|name| size_of_val(name) as u64 + text(name)).sum::<u64>(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::values::{VAL_BYTES, memory_of};
    use wasmtime::component::Val;

    #[test]
    fn memory_of_nested_values_is_counted() {
        assert_eq!(memory_of(&[]), 0);
        assert_eq!(memory_of(&[Val::Bool(true), Val::Option(None)]), 2 * VAL_BYTES);
        let text = || Val::String("x".repeat(1_000));
        for (value, least) in [
            (Val::List(vec![text(); 10]), 10_000 + 11 * VAL_BYTES),
            (Val::Record(vec![("a".into(), Val::Tuple(vec![text()]))]), 1_000 + 3 * VAL_BYTES),
            (Val::Option(Some(Box::new(text()))), 1_000 + 2 * VAL_BYTES),
            (Val::Result(Err(Some(Box::new(text())))), 1_000 + 2 * VAL_BYTES),
            (Val::Variant("x".repeat(1_000), Some(Box::new(text()))), 2_000 + 2 * VAL_BYTES),
            (Val::Flags(vec!["x".repeat(1_000)]), 1_000 + VAL_BYTES),
        ] {
            let bytes = memory_of(std::slice::from_ref(&value));
            assert!((least..least + 1_000).contains(&bytes), "{bytes}: {value:.40?}");
        }
    }
}
