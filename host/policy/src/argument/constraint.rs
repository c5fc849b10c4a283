//! Constraint on one value.

use super::canonical_text;
use super::fault::Why;
use super::number::compare;
use super::text_kind::TextKind;
use super::text_pattern::TextPattern;
use serde::Serialize;
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::fmt;

/// Constraint on one value; all parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Constraint {
    /// A string that matches one of these.
    pub matches: Option<Vec<TextPattern>>,
    /// A string that is exactly one address, repository or path, and matches one of its patterns.
    pub named: Vec<(TextKind, Vec<TextPattern>)>,
    /// A string that matches none of these, and is not below a path that does.
    pub not: Vec<TextPattern>,
    /// One of these values.
    pub one_of: Option<Vec<Value>>,
    /// Smallest allowed number.
    pub min: Option<Number>,
    /// Largest allowed number.
    pub max: Option<Number>,
    /// The value may be absent.
    pub optional: bool,
}

/// An invalid constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// No condition.
    #[error(
        "empty constraint; write `matches`, `address`, `repository`, `path`, `not`, `oneOf`, \
         `min` or `max`"
    )]
    Empty,
    /// An empty list.
    #[error("empty list, which no value matches; to refuse every call write \"deny\" for the function")]
    NoValue,
    /// `min` is greater than `max`.
    #[error("`min` is greater than `max`; write the smaller one as `min`")]
    NoNumber,
}

impl Constraint {
    /// Refuses an invalid constraint.
    pub fn validate(&self) -> Result<(), ConstraintError> {
        let is_empty_list = self.matches.as_ref().is_some_and(Vec::is_empty)
            || self.one_of.as_ref().is_some_and(Vec::is_empty)
            || self.named.iter().any(|(_, patterns)| patterns.is_empty());
        if is_empty_list {
            return Err(ConstraintError::NoValue);
        }
        if *self == (Constraint { optional: self.optional, ..Constraint::default() }) {
            return Err(ConstraintError::Empty);
        }
        match (&self.min, &self.max) {
            (Some(min), Some(max)) if compare(min, max) == Some(Ordering::Greater) => Err(ConstraintError::NoNumber),
            _ => Ok(()),
        }
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Why> {
        if self.matches.is_some() || !self.not.is_empty() || !self.named.is_empty() {
            let text = value.as_str().ok_or(Why::NoText)?;
            canonical_text::check(text)?;
            for (kind, patterns) in &self.named {
                if !kind.is_one(text) {
                    return Err(Why::NotOne(*kind));
                }
                if !patterns.iter().any(|pattern| pattern.allows(text)) {
                    return Err(Why::NoMatch);
                }
            }
            if self.matches.as_ref().is_some_and(|patterns| !patterns.iter().any(|pattern| pattern.allows(text))) {
                return Err(Why::NoMatch);
            }
            if self.not.iter().any(|pattern| pattern.forbids(text)) {
                return Err(Why::Forbidden);
            }
        }
        if self.one_of.as_ref().is_some_and(|values| !values.iter().any(|listed| is_same(listed, value))) {
            return Err(Why::NotListed);
        }
        if self.min.is_some() || self.max.is_some() {
            let Value::Number(number) = value else { return Err(Why::NoNumber) };
            // A value that cannot be compared fails.
            let is_past = |bound: &Option<Number>, past: Ordering| {
                bound.as_ref().is_some_and(|bound| compare(number, bound).is_none_or(|order| order == past))
            };
            if is_past(&self.min, Ordering::Less) {
                return Err(Why::Small);
            }
            if is_past(&self.max, Ordering::Greater) {
                return Err(Why::Large);
            }
        }
        Ok(())
    }
}

fn is_same(listed: &Value, value: &Value) -> bool {
    match (listed, value) {
        (Value::Number(listed), Value::Number(number)) => compare(listed, number) == Some(Ordering::Equal),
        _ => listed == value,
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |items: Vec<String>| items.join(" or ");
        let quoted = |patterns: &[TextPattern]| listed(patterns.iter().map(|pattern| format!("`{pattern}`")).collect());
        let mut parts = Vec::new();
        parts.extend(self.matches.as_ref().map(|patterns| format!("match {}", quoted(patterns))));
        parts.extend(self.named.iter().map(|(kind, patterns)| format!("be {kind} that matches {}", quoted(patterns))));
        parts.extend((!self.not.is_empty()).then(|| format!("not match {}", quoted(&self.not))));
        let values = |values: &Vec<Value>| listed(values.iter().map(Value::to_string).collect());
        parts.extend(self.one_of.as_ref().map(|list| format!("be {}", values(list))));
        parts.extend(self.min.as_ref().map(|min| format!("be at least {min}")));
        parts.extend(self.max.as_ref().map(|max| format!("be at most {max}")));
        if parts.is_empty() {
            parts.push("be present".to_owned());
        }
        write!(formatter, "must {}", parts.join(" and "))?;
        if self.optional { formatter.write_str(", if present") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Constraint, ConstraintError, TextKind, TextPattern, Why};
    use serde_json::{Value, json};

    fn patterns(texts: &[&str]) -> Vec<TextPattern> {
        texts.iter().map(|text| TextPattern::parse(text).unwrap()).collect()
    }

    #[test]
    fn every_part_of_a_constraint_is_checked() {
        let matches = Constraint { matches: Some(patterns(&["acme/*", "other/x"])), ..Constraint::default() };
        let not = Constraint { not: patterns(&["secret/*"]), ..Constraint::default() };
        let both = Constraint { not: patterns(&["acme/secret"]), ..matches.clone() };
        let address =
            Constraint { named: vec![(TextKind::Address, patterns(&["*@acme.com"]))], ..Constraint::default() };
        let listed = Constraint { one_of: Some(vec![json!("a"), json!(1), json!(null)]), ..Constraint::default() };
        let range = Constraint { min: Some(0.into()), max: Some(100.into()), ..Constraint::default() };
        let cases: &[(&Constraint, Value, Result<(), Why>)] = &[
            (&matches, json!("acme/x"), Ok(())),
            (&matches, json!("other/x"), Ok(())),
            (&matches, json!("other/y"), Err(Why::NoMatch)),
            (&matches, json!(["acme/x"]), Err(Why::NoText)),
            (&matches, json!({ "toString": "acme/x" }), Err(Why::NoText)),
            (&matches, json!(5), Err(Why::NoText)),
            (&address, json!("ada@acme.com"), Ok(())),
            (&address, json!("ada@evil.com"), Err(Why::NoMatch)),
            (&address, json!("evil@evil.com,ada@acme.com"), Err(Why::NotOne(TextKind::Address))),
            (&address, json!("acme.com"), Err(Why::NotOne(TextKind::Address))),
            (&address, json!(["ada@acme.com"]), Err(Why::NoText)),
            (&not, json!("public/x"), Ok(())),
            (&not, json!("secret/x"), Err(Why::Forbidden)),
            (&not, json!("SECRET/x/y"), Err(Why::Forbidden)),
            (&not, json!(1), Err(Why::NoText)),
            (&both, json!("acme/x"), Ok(())),
            (&both, json!("acme/secret"), Err(Why::Forbidden)),
            (&listed, json!("a"), Ok(())),
            (&listed, json!(1.0), Ok(())),
            (&listed, json!(null), Ok(())),
            (&listed, json!("A"), Err(Why::NotListed)),
            (&listed, json!("1"), Err(Why::NotListed)),
            (&listed, json!(["a"]), Err(Why::NotListed)),
            (&range, json!(0), Ok(())),
            (&range, json!(-0.0), Ok(())),
            (&range, json!(100), Ok(())),
            (&range, json!(100.0), Ok(())),
            (&range, json!(100.0000001), Err(Why::Large)),
            (&range, json!(-1), Err(Why::Small)),
            (&range, json!(1e308), Err(Why::Large)),
            (&range, json!("5"), Err(Why::NoNumber)),
            (&range, json!("1e400"), Err(Why::NoNumber)),
            (&range, json!(true), Err(Why::NoNumber)),
            (&range, json!([5]), Err(Why::NoNumber)),
        ];
        for (constraint, value, expected) in cases {
            assert_eq!(constraint.check(value), *expected, "{constraint}: {value}");
        }
        let odd = |text: &str| matches!(not.check(&json!(text)), Err(Why::NonCanonical(_)));
        assert!(odd("x/../secret/y") && odd("secret%2fx") && odd("ｓecret/x"));
    }

    #[test]
    fn invalid_constraints_are_refused() {
        let empty = Constraint { optional: true, ..Constraint::default() };
        assert_eq!(empty.validate(), Err(ConstraintError::Empty));
        let none = Constraint { matches: Some(vec![]), ..Constraint::default() };
        assert_eq!(none.validate(), Err(ConstraintError::NoValue));
        let none = Constraint { named: vec![(TextKind::Path, vec![])], ..Constraint::default() };
        assert_eq!(none.validate(), Err(ConstraintError::NoValue));
        let swapped = Constraint { min: Some(2.into()), max: Some(1.into()), ..Constraint::default() };
        assert_eq!(swapped.validate(), Err(ConstraintError::NoNumber));
        let point = Constraint { min: Some(1.into()), max: Some(1.into()), ..Constraint::default() };
        assert_eq!(point.validate(), Ok(()));
    }

    #[test]
    fn display_describes_the_constraint() {
        let constraint = Constraint {
            matches: Some(patterns(&["a/*", "b"])),
            max: Some(100.into()),
            optional: true,
            ..Constraint::default()
        };
        assert_eq!(constraint.to_string(), "must match `a/*` or `b` and be at most 100, if present");
        let named = Constraint { named: vec![(TextKind::Repository, patterns(&["acme/*"]))], ..Constraint::default() };
        assert_eq!(named.to_string(), "must be a repository that matches `acme/*`");
    }
}
