//! Which of a call's arguments is meant.

use super::constraint::Constraint;
use super::fault::{Fault, Why};
use serde_json::Value;
use std::fmt::{self, Write};

/// Longest path, and the most steps of one.
const MAX_BYTES: usize = 256;
const MAX_STEPS: usize = 16;

/// Which of a call's arguments is meant: `repo`, `issue.labels[]`, `to[].address`. `[]` is every item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Every,
}

/// A text that names no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the path of an argument: write names with dots between them, and `[]` for every item of a list: `to[].address`"
)]
pub struct PathError;

impl ArgumentPath {
    /// Reads a path.
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

    /// Whether the constraint holds of every value that is meant.
    pub(crate) fn check(&self, params: &Value, constraint: &Constraint) -> Result<(), Fault> {
        check(&self.0, params, constraint)
    }
}

/// At most as deep as the path is long.
fn check(steps: &[Step], value: &Value, constraint: &Constraint) -> Result<(), Fault> {
    match steps.split_first() {
        None => constraint.check(value).map_err(Fault::here),
        Some((Step::Member(name), rest)) => {
            let found = match value {
                Value::Object(members) => members.get(name),
                _ => return Err(Fault::here(Why::NoObject)),
            };
            match found {
                Some(member) => check(rest, member, constraint).map_err(|fault| fault.below_member(name)),
                None if constraint.optional => Ok(()),
                None => Err(Fault::here(Why::Missing).below_member(name)),
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

#[cfg(test)]
mod tests {
    use super::{ArgumentPath, Constraint};
    use serde_json::{Value, json};

    fn place(path: &str, params: Value, is_optional: bool) -> Option<String> {
        let constraint = Constraint { one_of: Some(vec![json!("ok")]), optional: is_optional, ..Constraint::default() };
        ArgumentPath::parse(path).unwrap().check(&params, &constraint).err().map(|fault| fault.place)
    }

    #[test]
    fn a_fault_says_where_it_is() {
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
    fn only_what_is_not_there_may_be_left_out() {
        for params in [json!({}), json!({ "to": [] })] {
            assert_eq!(place("a.b", params.clone(), true), None, "{params}");
            assert!(place("a.b", params.clone(), false).is_some(), "{params}");
        }
        for params in [json!({ "a": null }), json!({ "a": "x" }), json!({ "a": { "b": null } }), json!({ "a": [] })] {
            assert!(place("a.b", params.clone(), true).is_some(), "{params}");
        }
    }

    #[test]
    fn paths_are_shown_as_they_are_written_and_others_refused() {
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
