//! How the names of a compiled capability's WIT types stand for JSON.
//!
//! The compiler of capabilities makes WIT names from any text and says of each what it stands for; the same
//! marks go into the binding's tables, where the engine reads them (`guest-js/src/values/marks.rs` has the
//! list).

use super::shape::{JsonKind, Presence, Untagged};
use std::collections::BTreeMap;

/// Type name, then field or case name, to mark.
pub(crate) type Marks = BTreeMap<String, BTreeMap<String, String>>;

/// What a field's mark says: presence, and the member's name.
pub(crate) fn field_mark(mark: &str) -> Result<(Presence, String), String> {
    let mut characters = mark.chars();
    let presence = match characters.next() {
        Some('=' | '+') => Presence::Required,
        Some('?' | '%') => Presence::Optional,
        Some('*') => Presence::Extras,
        _ => return Err(format!("unknown mark {mark:?}")),
    };
    Ok((presence, characters.as_str().to_owned()))
}

/// What a variant case's mark says.
pub(crate) fn untagged_mark(mark: &str) -> Result<Untagged, String> {
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

/// `4:kind` before the rest.
fn take_text(rest: &mut &str) -> Option<String> {
    let (length, after) = rest.split_once(':')?;
    let length: usize = length.parse().ok()?;
    let text = after.get(..length)?;
    *rest = &after[length..];
    Some(text.to_owned())
}
