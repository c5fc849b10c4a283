//! How the names in a binding's tables stand for JSON.
//!
//! A name without a mark is WIT's own, and scripts see it in camelCase. The compiler of capabilities gives the
//! host a mark for every name it makes, and the host writes it into the tables in the name's place:
//!
//! | mark | of | stands for |
//! |---|---|---|
//! | `=NAME` | a field | the member NAME, always there; of an `option`, `none` is null |
//! | `?NAME` | a field | the member NAME, absent when `none`; an `option` inside says null |
//! | `+NAME`, `%NAME` | a field | the same as `=NAME` and `?NAME`, of base64: bytes may be passed as they are |
//! | `*` | a field | all members without a field of their own, as one JSON object |
//! | `=TEXT` | an enum's case | the string TEXT |
//! | `~K…` | a variant's case | a value of JSON kind K, told apart without a tag |

use crate::abi::metadata::Kind as TypeKind;
use crate::engine::binding;
use crate::js::{Atom, Value};
use crate::values::camel_case;

/// What a record's field is in JavaScript.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// WIT's own: an `option` that is none is left out.
    Plain,
    /// Always there.
    Required,
    /// Absent when none.
    Optional,
    /// All other members.
    Extras,
}

/// A record's fields as scripts name them.
pub(crate) struct RecordNames {
    pub(crate) atoms: Vec<Atom>,
    pub(crate) presence: Vec<Presence>,
    /// Whether bytes are passed as base64.
    pub(crate) is_base64: Vec<bool>,
}

impl RecordNames {
    /// The names of a record of the binding.
    pub(crate) fn read(index: usize) -> RecordNames {
        let fields = binding().record(index);
        let (presence, atoms) = fields
            .iter()
            .map(|field| {
                let name = field.name();
                match name.as_bytes().first() {
                    Some(b'=' | b'+') => (Presence::Required, Atom::new(&name[1..])),
                    Some(b'?' | b'%') => (Presence::Optional, Atom::new(&name[1..])),
                    Some(b'*') => (Presence::Extras, Atom::new("")),
                    _ => (Presence::Plain, Atom::new(&camel_case(name))),
                }
            })
            .unzip();
        let is_base64 = fields.iter().map(|field| field.name().starts_with(['+', '%'])).collect();
        RecordNames { atoms, presence, is_base64 }
    }

    /// Where the member of this name goes.
    pub(crate) fn position(&self, name: Atom) -> Option<usize> {
        self.atoms.iter().zip(&self.presence).position(|(atom, presence)| *atom == name && !presence.is_extras())
    }

    /// Whether members without a field have a place.
    pub(crate) fn is_open(&self) -> bool {
        self.presence.last().is_some_and(|last| last.is_extras())
    }

    /// Whether the compiler of capabilities made it.
    pub(crate) fn is_marked(&self) -> bool {
        self.presence.first().is_some_and(|first| *first != Presence::Plain)
    }

    /// Whether an empty object is one of these.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.presence.iter().all(|presence| matches!(presence, Presence::Optional | Presence::Extras))
    }

    /// Names that scripts may write.
    pub(crate) fn known(&self) -> impl Iterator<Item = String> {
        self.atoms.iter().zip(&self.presence).filter(|(_, presence)| !presence.is_extras()).map(|(atom, _)| atom.name())
    }
}

impl Presence {
    pub(crate) fn is_extras(self) -> bool {
        self == Presence::Extras
    }
}

/// The string that an enum's case stands for.
pub(crate) fn enum_text(name: &str) -> &str {
    name.strip_prefix('=').unwrap_or(name)
}

/// Which values are a case of a variant that has no tag.
pub(crate) struct Untagged {
    kind: u8,
    /// A member and the strings it may be, which tell objects apart.
    discriminator: Option<(&'static str, Vec<&'static str>)>,
}

impl Untagged {
    /// The case's mark, where it has one.
    pub(crate) fn read(name: &'static str) -> Option<Untagged> {
        let mark = name.strip_prefix('~')?;
        let (kind, mut rest) = mark.as_bytes().split_first().map(|(kind, _)| (*kind, &mark[1..]))?;
        let key = take_text(&mut rest);
        let discriminator = key.map(|key| (key, std::iter::from_fn(|| take_text(&mut rest)).collect()));
        Some(Untagged { kind, discriminator })
    }

    /// Whether `value` is of this case. Reads at most one member of it.
    pub(crate) fn matches(&self, value: &Value) -> Result<bool, Value> {
        if kind_of(value) != self.kind {
            return Ok(false);
        }
        let Some((key, texts)) = &self.discriminator else { return Ok(true) };
        let member = value.get_str(key)?;
        if !member.is_string() {
            return Ok(false);
        }
        let text = member.text()?;
        Ok(text.as_str().is_some_and(|text| texts.contains(&text)))
    }

    /// What the case expects, for messages.
    pub(crate) fn expectation(&self) -> String {
        let kind = match self.kind {
            b'b' => "a boolean",
            b'n' => "a number",
            b's' => "a string",
            b'a' => "an array",
            _ => "an object",
        };
        match &self.discriminator {
            None => kind.to_owned(),
            Some((key, texts)) => {
                let texts = texts.iter().map(|text| format!("'{text}'")).collect::<Vec<_>>();
                format!("an object whose `{key}` is {}", texts.join(" or "))
            }
        }
    }
}

fn kind_of(value: &Value) -> u8 {
    if value.as_bool().is_some() {
        b'b'
    } else if value.as_number().is_some() || value.is_bigint() {
        b'n'
    } else if value.is_string() {
        b's'
    } else if value.is_array() {
        b'a'
    } else if value.is_object() && !value.is_function() {
        b'o'
    } else {
        b'-'
    }
}

/// `4:kind` before the rest.
fn take_text(rest: &mut &'static str) -> Option<&'static str> {
    let (length, after) = rest.split_once(':')?;
    let length: usize = length.parse().ok()?;
    let text = after.get(..length)?;
    *rest = &after[length..];
    Some(text)
}

/// Which `option`s say whether a member is there rather than what it is: those around another, in a
/// field that may be absent. In order.
pub(crate) fn presence_options() -> Vec<usize> {
    let mut options = Vec::new();
    for index in 0..binding().record_count() {
        for field in binding().record(index) {
            if let (true, TypeKind::Option(outer)) = (field.name().starts_with(['?', '%']), binding().kind(field.ty))
                && let TypeKind::Option(_) = binding().kind(binding().option(outer))
            {
                options.push(outer);
            }
        }
    }
    options.sort_unstable();
    options.dedup();
    options
}
