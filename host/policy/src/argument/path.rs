//! Path to an argument of a call.

use super::constraint::Constraint;
use super::fault::{Fault, Why};
use agent_spaces_types::nearest::nearest;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::{self, Write};

/// Limits of a path.
const MAX_BYTES: usize = 256;
const MAX_STEPS: usize = 16;

/// Path to an argument: `repo`, `issue.labels[]`, `to[].address`. `[]` is every item of a list. A parameter name may
/// contain a dot: `a.b` is both the member `b` of `a` and the member `a.b`; if both exist the constraint applies to
/// both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Every,
}

/// Not a valid argument path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an argument path: write names separated by dots, and `[]` for every item of a list: `to[].address`")]
pub struct PathError;

impl ArgumentPath {
    /// Parses a path.
    pub fn parse(text: &str) -> Result<ArgumentPath, PathError> {
        let mut steps = Vec::new();
        if text.len() > MAX_BYTES {
            return Err(PathError);
        }
        for part in text.split('.') {
            let name = part.trim_end_matches("[]");
            if name.is_empty() || name.contains(['[', ']']) || name.chars().any(char::is_control) {
                return Err(PathError);
            }
            let lists = (part.len() - name.len()) / "[]".len();
            steps.push(Step::Member(name.to_owned()));
            steps.extend(std::iter::repeat_n(Step::Every, lists));
        }
        if steps.len() > MAX_STEPS { Err(PathError) } else { Ok(ArgumentPath(steps)) }
    }

    /// Checks the constraint on every value at this path.
    pub(crate) fn check(&self, params: &Value, constraint: &Constraint) -> Result<(), Fault> {
        check(&self.0, params, constraint)
    }

    /// Returns the member that a parameter schema lacks, with the nearest known one. `None` if the schema has the path,
    /// or cannot tell.
    pub(crate) fn unknown_in(&self, schema: &Value) -> Option<UnknownMember> {
        unknown(&self.0, schema)
    }
}

/// A member that a schema lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownMember {
    pub(crate) name: String,
    pub(crate) nearest: Option<String>,
}

/// All ways to join the next members into one name: `a`, `a.b` and `a.b.c` of `a.b.c[]`, each with the remaining steps.
fn readings(steps: &[Step]) -> impl Iterator<Item = (String, &[Step])> {
    let mut name = String::new();
    let members = steps.iter().map_while(|step| match step {
        Step::Member(member) => Some(member),
        Step::Every => None,
    });
    members.enumerate().map(move |(index, member)| {
        if index > 0 {
            name.push('.');
        }
        name.push_str(member);
        (name.clone(), steps.get(index + 1..).unwrap_or_default())
    })
}

/// Keywords that may declare members outside `properties`.
const ELSEWHERE: &[&str] = &["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties", "dependentSchemas"];

fn unknown(steps: &[Step], schema: &Value) -> Option<UnknownMember> {
    let first = steps.first()?;
    if ELSEWHERE.iter().any(|keyword| schema.get(keyword).is_some()) {
        return None;
    }
    let Step::Member(name) = first else {
        return schema.get("items").and_then(|items| unknown(steps.get(1..).unwrap_or_default(), items));
    };
    if schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false)) {
        return None;
    }
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let mut missing = None;
    for (joined, rest) in readings(steps) {
        match properties.get(&joined).map(|schema| unknown(rest, schema)) {
            Some(None) => return None,
            Some(deeper) => missing = missing.or(deeper),
            None => {}
        }
    }
    missing.or_else(|| {
        let nearest = nearest(name, properties.keys().map(String::as_str)).map(str::to_owned);
        Some(UnknownMember { name: name.clone(), nearest })
    })
}

/// Recursion is bounded by the length of the path.
fn check(steps: &[Step], value: &Value, constraint: &Constraint) -> Result<(), Fault> {
    match steps.split_first() {
        None => constraint.check(value).map_err(Fault::here),
        Some((Step::Member(name), _)) => {
            let Value::Object(members) = value else { return Err(Fault::here(Why::NoObject)) };
            let mut is_found = false;
            for (name, rest) in readings(steps) {
                if let Some(member) = members.get(&name) {
                    is_found = true;
                    check(rest, member, constraint).map_err(|fault| fault.below_member(&name))?;
                }
            }
            match is_found || constraint.optional {
                true => Ok(()),
                false => Err(Fault::here(Why::Missing).below_member(name)),
            }
        }
        Some((Step::Every, rest)) => {
            let Value::Array(items) = value else { return Err(Fault::here(Why::NoList)) };
            let mut items = items.iter().enumerate();
            items.try_for_each(|(index, item)| check(rest, item, constraint).map_err(|fault| fault.below_item(index)))
        }
    }
}

impl fmt::Display for ArgumentPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Member(name) if index == 0 => formatter.write_str(name)?,
                Step::Member(name) => {
                    formatter.write_char('.')?;
                    formatter.write_str(name)?;
                }
                Step::Every => formatter.write_str("[]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for ArgumentPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{ArgumentPath, Constraint};
    use serde_json::{Value, json};

    fn place(path: &str, params: Value, is_optional: bool) -> Option<String> {
        let constraint = Constraint { one_of: Some(vec![json!("ok")]), optional: is_optional, ..Constraint::default() };
        ArgumentPath::parse(path).unwrap().check(&params, &constraint).err().map(|fault| fault.place)
    }

    #[test]
    fn a_violation_reports_its_path() {
        let params =
            json!({ "a": "ok", "b": "no", "to": [{ "x": "ok" }, { "x": "no" }], "m": [["ok"], ["ok", 1]], "none": [] });
        for (path, expected) in [
            ("a", None),
            ("b", Some("b")),
            ("to[].x", Some("to[1].x")),
            ("m[][]", Some("m[1][1]")),
            ("none[]", None),
            ("missing", Some("missing")),
            ("to[].y", Some("to[0].y")),
            ("a.b", Some("a")),
            ("a[]", Some("a")),
            ("to", Some("to")),
        ] {
            assert_eq!(place(path, params.clone(), false).as_deref(), expected, "{path}");
        }
        assert_eq!(place("a", json!(null), true).as_deref(), Some(""));
    }

    #[test]
    fn optional_applies_to_absent_values_only() {
        for params in [json!({}), json!({ "to": [] })] {
            assert_eq!(place("a.b", params.clone(), true), None, "{params}");
            assert!(place("a.b", params.clone(), false).is_some(), "{params}");
        }
        for params in [json!({ "a": null }), json!({ "a": "x" }), json!({ "a": { "b": null } }), json!({ "a": [] })] {
            assert!(place("a.b", params.clone(), true).is_some(), "{params}");
        }
    }

    #[test]
    fn a_dot_in_a_name_does_not_bypass_the_constraint() {
        for (params, expected) in [
            (json!({ "a.b": "ok" }), None),
            (json!({ "a.b": "no" }), Some("a.b")),
            (json!({ "a": { "b": "ok" }, "a.b": "no" }), Some("a.b")),
            (json!({ "a": { "b": "no" }, "a.b": "ok" }), Some("a.b")),
            (json!({ "a": { "b": "ok" }, "a.b": "ok" }), None),
        ] {
            for is_optional in [false, true] {
                assert_eq!(place("a.b", params.clone(), is_optional).as_deref(), expected, "{params} {is_optional}");
            }
        }
        let deep = json!({ "x": [{ "a.b.c": ["ok", "no"] }, { "a": { "b.c": ["ok"] } }] });
        assert_eq!(place("x[].a.b.c[]", deep, true).as_deref(), Some("x[0].a.b.c[1]"));
    }

    #[test]
    fn a_path_missing_from_the_schema_is_reported_with_the_nearest_name() {
        let schema = json!({ "type": "object", "properties": {
            "repo": { "type": "string" }, "a.b": { "type": "string" },
            "to": { "type": "array", "items": { "type": "object", "properties": { "address": {} } } },
            "open": { "type": "object", "additionalProperties": { "type": "string" } },
            "either": { "anyOf": [{ "properties": { "x": {} } }, { "type": "null" }] },
        } });
        let unknown = |path: &str| ArgumentPath::parse(path).unwrap().unknown_in(&schema);
        for path in ["repo", "a.b", "to[].address", "to", "open.x", "open.x.y", "either.z", "repo.x[]"] {
            assert_eq!(unknown(path), None, "{path}");
        }
        for (path, nearest) in
            [("repos", Some("repo")), ("to[].adress", Some("address")), ("zzzz", None), ("a.c", Some("a.b"))]
        {
            assert_eq!(unknown(path).map(|unknown| unknown.nearest), Some(nearest.map(str::to_owned)), "{path}");
        }
        assert!(ArgumentPath::parse("a").unwrap().unknown_in(&json!({ "properties": {} })).is_some());
        assert!(ArgumentPath::parse("a").unwrap().unknown_in(&json!({})).is_none());
    }

    #[test]
    fn paths_round_trip_and_invalid_ones_are_refused() {
        for text in ["repo", "issue.labels[]", "to[].address", "m[][]", "with space", "ä-b"] {
            assert_eq!(ArgumentPath::parse(text).unwrap().to_string(), text);
        }
        for text in ["", ".", "a.", ".a", "a..b", "[]", "a[0]", "a[", "a[]b", "a.[]", "a\n"] {
            assert!(ArgumentPath::parse(text).is_err(), "{text}");
        }
        assert!(ArgumentPath::parse(&["a"; 17].join(".")).is_err());
        assert!(ArgumentPath::parse(&"a".repeat(257)).is_err());
    }
}
