//! JavaScript values to WIT trees and JSON, with a path in every refusal.
//!
//! - [`Tree`]: a checked value, free of JavaScript. Reading a JavaScript value may run its getters
//!   and proxies, so all of it is read once, here, before anything is handed to the host.
//! - [`lower`]: a value against its WIT type.
//! - [`write_json`], [`parse_json`]: JSON in both directions, losing nothing in silence.
//! - [`shown`]: the arguments of a call that is refused.
//! - [`bytes`], [`base64`]: buffers and views.
//! - [`Path`]: where in a value something is wrong.

mod binary;
mod json;
mod lower;
mod marks;
mod path;
mod shown;
mod tree;

pub(crate) use binary::{base64, bytes};
pub(crate) use json::{Strictness, parse_json, write_json};
pub(crate) use lower::{lower, no_members};
pub(crate) use marks::{Presence, RecordNames, Untagged, enum_text, presence_options};
pub(crate) use path::{Issue, Issues, Path, Refusal};
pub(crate) use shown::shown;
pub(crate) use tree::Tree;

/// `get-schedule` as scripts write it: `getSchedule`.
pub(crate) fn camel_case(kebab: &str) -> String {
    let mut camel = String::with_capacity(kebab.len());
    let mut words = kebab.split('-');
    camel.push_str(words.next().unwrap_or(""));
    for word in words {
        let mut characters = word.chars();
        camel.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(characters.as_str());
    }
    camel
}
