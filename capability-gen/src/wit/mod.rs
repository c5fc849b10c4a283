//! Mapping of the model to WIT types, and the JSON encoding of their values.
//!
//! [`plan()`] returns the mapping as data; [`crate::emit::wit`] prints it, and hosts and guests convert values with it.
//!
//! # Types
//!
//! | model | WIT |
//! |---|---|
//! | `Boolean`, `Integer`, `Number`, `String` | `bool`, `s64`, `f64`, `string` |
//! | `Literals` | strings: an `enum`; otherwise `bool`, `s64` or `f64` if all are of that kind |
//! | `List`, and `Tuple`s of one type | `list` |
//! | `Tuple` of up to 16, all required | `tuple` |
//! | `Record` | `record` |
//! | union with `Null` | `option` of the rest |
//! | union of different JSON kinds | `variant` with a case for each kind |
//! | union of records with a common required member that distinguishes them | `variant` with a case for each record |
//! | everything else | `json`, at that position only: a [`Fallback`] says where and why |
//!
//! Named records, enums and variants keep their names; other named types are expanded where they are used. Records,
//! enums and variants without a name get one from their position: `<type>-<field>`, `<type>-item`.
//!
//! Before a union is mapped, named unions in it are expanded, integers are absorbed by numbers, literals by their
//! scalar, and string literals are merged.
//!
//! **Recursive types.** Functions are read in order, parameters before the result, members in order. A reference to a
//! named type that is still being read closes a cycle, and only it becomes `json`: in
//! `Tree { label: string, children: Tree[] }` that is `children: list<json>`. A named type has one form in an
//! interface, so later references to `Tree` are to that same record.
//!
//! # Presence
//!
//! A required field has the type `T`, or `option<T>` if it may be null. A field that may be absent has `option<T>`, or
//! `option<option<T>>` if it may also be null. An open record ends with a field `extras: option<json>` that carries all
//! members without a field, as one JSON object.
//!
//! # Marks
//!
//! Each record field, enum case and variant case has a mark that defines its JSON form:
//!
//! | mark | of | means |
//! |---|---|---|
//! | `=NAME` | a record's field | the required member `NAME`; an `option`'s `none` is null |
//! | `?NAME` | a record's field | the member `NAME`, absent when `none`; a second `option`'s `none` is null |
//! | `*` | a record's field | all members without a field, as one object |
//! | `=TEXT` | an enum's case | the string `TEXT` |
//! | `~b` `~n` `~s` `~a` `~o` | a variant's case | a boolean, number, string, array or object |
//! | `~o4:kind3:cat3:dog` | a variant's case | an object whose member `kind` is `cat` or `dog` (netstrings: bytes, colon, text) |

mod fallback;
mod literals;
mod mapper;
mod plan;
mod record;
mod union;

pub use fallback::{Fallback, Reason};
pub use plan::{Definition, FunctionPlan, Interface, Kind, Marks, Member, Plan, WitType};

use crate::model::{Module, ServerInterface};
use crate::names::{Scope, kebab};

/// Maps a module to WIT. Never fails: types that WIT cannot express are `json`.
pub fn plan(module: &Module) -> Plan {
    let package = module.package();
    let (namespace, name) = package.split_once(':').unwrap_or(("capabilities", &package));
    let mut scope = Scope::new();
    let names: Vec<String> = module.capabilities.iter().map(|capability| scope.add(&capability.interface)).collect();
    let interfaces = module
        .capabilities
        .iter()
        .zip(names)
        .map(|(capability, name)| mapper::interface(name, &capability.functions, &module.types))
        .collect();
    let server = module.capabilities.iter().flat_map(|capability| &capability.server);
    let server = server.map(|of| ServerInterface { interface: scope.add(&of.interface), ..of.clone() }).collect();
    Plan { namespace: kebab(namespace), name: kebab(name), version: version(&module.version), interfaces, server }
}

/// The version if it is valid in WIT, and otherwise `0.0.0`.
fn version(version: &str) -> String {
    let is_number = |part: &str| {
        !part.is_empty()
            && part.len() <= 9
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
    };
    let is_word = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.len() <= 64
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let (numbers, pre_release) = match version.split_once('-') {
        Some((numbers, pre_release)) => (numbers, Some(pre_release)),
        None => (version, None),
    };
    let is_valid = numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && pre_release
            .is_none_or(|text| text.len() <= 64 && text.split('.').all(|part| is_word(part) || is_number(part)));
    if is_valid { version.to_owned() } else { "0.0.0".to_owned() }
}
