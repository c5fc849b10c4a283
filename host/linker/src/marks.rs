//! JSON marks: mapping from the names in a compiled capability's WIT types to JSON members.
//!
//! The compiler of capabilities makes WIT names from any text and gives each a mark with the original. The same marks
//! go into the binding's tables, where the engine reads them (`guest-js/src/values/marks.rs` lists them).

use agent_spaces_types::shape::{JsonKind, Presence, Untagged};
use std::collections::BTreeMap;

/// Marks by type name, then by field or case name.
pub type Marks = BTreeMap<String, BTreeMap<String, String>>;

/// Parses a field's mark: presence, and the member's name.
///
/// # Errors
/// An unknown mark.
pub fn field_mark(mark: &str) -> Result<(Presence, String), String> {
    let mut characters = mark.chars();
    let presence = match characters.next() {
        Some('=' | '+') => Presence::Required,
        Some('?' | '%') => Presence::Optional,
        Some('*') => Presence::Extras,
        _ => return Err(format!("unknown mark {mark:?}")),
    };
    Ok((presence, characters.as_str().to_owned()))
}

/// Parses a variant case's mark.
///
/// # Errors
/// An unknown mark.
pub fn untagged_mark(mark: &str) -> Result<Untagged, String> {
    let read = || {
        let mut rest = mark.strip_prefix('~')?;
        let kind = match rest.chars().next()? {
            'b' => JsonKind::Boolean,
            'n' => JsonKind::Number,
            's' => JsonKind::String,
            'a' => JsonKind::Array,
            'o' => JsonKind::Object,
            _ => return None,
        };
        rest = &rest[1..];
        let key = take_text(&mut rest);
        let discriminator = key.map(|key| (key, std::iter::from_fn(|| take_text(&mut rest)).collect()));
        Some(Untagged { kind, discriminator })
    };
    read().ok_or_else(|| format!("unknown mark {mark:?}"))
}

/// Takes a length-prefixed text from the front: `4:kind`.
fn take_text(rest: &mut &str) -> Option<String> {
    let (length, after) = rest.split_once(':')?;
    let length: usize = length.parse().ok()?;
    let text = after.get(..length)?;
    *rest = &after[length..];
    Some(text.to_owned())
}
