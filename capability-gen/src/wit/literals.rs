//! Mapping of literals to enums and scalars.

use super::fallback::Reason;
use super::mapper::{Hint, Mapped, Mapper};
use super::plan::{Kind, Member, WitType};
use crate::names::Scope;
use serde_json::Value;

/// Maximum number of cases of an enum; components allow 10,000.
const MAX_CASES: usize = 5_000;

/// Number of cases that cost as much as one field: an enum is one type, and only its text is long.
pub(super) const CASES_TO_A_MEMBER: usize = 16;

/// Kind of a literal in WIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralKind {
    Boolean,
    Integer,
    Number,
    String,
    /// No WIT scalar represents it exactly.
    Other,
}

pub(super) fn kind(value: &Value) -> LiteralKind {
    match value {
        Value::Bool(_) => LiteralKind::Boolean,
        Value::String(_) => LiteralKind::String,
        Value::Number(number) if number.is_i64() => LiteralKind::Integer,
        Value::Number(number) if number.is_f64() => LiteralKind::Number,
        _ => LiteralKind::Other,
    }
}

impl<'a> Mapper<'a> {
    pub(super) fn literals(&mut self, values: &'a [Value], hint: Hint<'a>) -> Mapped {
        let are = |kinds: &[LiteralKind]| values.iter().all(|value| kinds.contains(&kind(value)));
        if values.is_empty() {
            self.json(Reason::Never)
        } else if are(&[LiteralKind::String]) {
            self.enumeration(values.iter().filter_map(Value::as_str).collect(), hint)
        } else if are(&[LiteralKind::Boolean]) {
            self.scalar(WitType::Bool)
        } else if are(&[LiteralKind::Integer]) {
            self.scalar(WitType::S64)
        } else if are(&[LiteralKind::Integer, LiteralKind::Number]) {
            self.scalar(WitType::F64)
        } else {
            self.json(Reason::MixedLiterals)
        }
    }

    pub(super) fn enumeration(&mut self, texts: Vec<&'a str>, hint: Hint<'a>) -> Mapped {
        if texts.len() > MAX_CASES || !self.has_room(texts.len() / CASES_TO_A_MEMBER) {
            return self.json(Reason::TooMany);
        }
        if texts.iter().any(|text| text.contains('\0')) {
            return self.json(Reason::Name);
        }
        let index = self.define(&hint, Kind::Enum, texts.len() / CASES_TO_A_MEMBER);
        let names = Scope::new().add_all(texts.iter().copied());
        let members = names
            .into_iter()
            .zip(texts)
            .map(|(name, text)| Member { name, ty: None, mark: format!("={text}"), description: String::new() })
            .collect();
        self.defined(index, members, &[])
    }
}
