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
pub(crate) use shape::{FunctionShape, Shape};
pub(crate) use to_json::to_json;

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
    use super::camel_case;

    #[test]
    fn kebab_names_become_camel_case() {
        assert_eq!(camel_case("get-schedule"), "getSchedule");
        assert_eq!(camel_case("plain"), "plain");
        assert_eq!(camel_case("a-b2-c"), "aB2C");
    }
}
