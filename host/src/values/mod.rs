//! Values between the component model and JSON.
//!
//! Handlers see JSON; components see WIT types. A [`Shape`] says how one becomes the other, and is
//! made once for each function when its interface is read. The mapping is the one that scripts see,
//! so that what a script passes is what a handler receives:
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
//! The types of a compiled capability have [marks](marks): members have the names of their schema, absent and
//! null differ, undeclared members travel in one field, unions have no tags.

mod from_json;
#[cfg(feature = "compiler")]
pub(crate) mod marks;
mod shape;
mod to_json;

#[cfg(feature = "compiler")]
pub(crate) use from_json::exact;
pub(crate) use from_json::{Mismatch, from_json};
#[cfg(feature = "compiler")]
pub(crate) use shape::read::{Context, function};
pub(crate) use shape::{Field, FunctionShape, Presence, Shape};
pub(crate) use to_json::{NotJson, to_json};

use wasmtime::component::Val;

/// What a component's value takes inside a list, beside what it points to.
const VAL_BYTES: u64 = size_of::<Val>() as u64;

/// What an allocator keeps of each block for itself, and loses to rounding.
const BLOCK_BYTES: u64 = 16;

/// What a component's values take in memory. Their types bound how deep they are.
pub(crate) fn memory_of(values: &[Val]) -> u64 {
    values.iter().map(|value| VAL_BYTES + beyond(value)).sum()
}

/// What a value points to.
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

/// `get-schedule` as scripts and JSON write it: `getSchedule`.
pub(crate) fn camel_case(kebab: &str) -> String {
    let mut camel = String::with_capacity(kebab.len());
    for (i, word) in kebab.split('-').enumerate() {
        let mut characters = word.chars();
        match characters.next() {
            Some(first) if i > 0 => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(characters.as_str());
    }
    camel
}

/// Two of these names that scripts could not tell apart.
#[cfg(feature = "compiler")]
pub(crate) fn alike<'a>(names: impl Iterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut seen = std::collections::HashMap::new();
    for name in names {
        if let Some(other) = seen.insert(camel_case(name), name) {
            return Some((other, name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{VAL_BYTES, camel_case, memory_of};
    use wasmtime::component::Val;

    #[test]
    fn memory_is_found_wherever_it_is() {
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

    #[test]
    fn kebab_names_become_camel_case() {
        assert_eq!(camel_case("get-schedule"), "getSchedule");
        assert_eq!(camel_case("plain"), "plain");
        assert_eq!(camel_case("a-b2-c"), "aB2C");
    }
}
