//! Filter of the operations that become functions.
//!
//! | pattern | selects |
//! |---|---|
//! | `listPets`, `issues/*` | operations by their `operationId` |
//! | `tag:pets` | operations with this tag |
//! | `/pets/**` | operations of these paths |
//! | `GET /pets/*` | the same, of one method |
//!
//! `*` matches any text; in a path, `*` matches text without a `/`, and `**` any text.

use super::super::error::SourceError;
use super::super::node::Node;
use super::super::{MAX_FUNCTIONS, tags};
use super::METHODS;
use super::operation::Operation;
use crate::names::nearest;
use std::collections::BTreeSet;

/// Maximum number of patterns.
const MAX_PATTERNS: usize = 256;

/// Maximum length of a pattern, and of a name that is matched.
const MAX_PATTERN_BYTES: usize = 512;

/// Maximum number of names compared for a suggestion.
const MAX_COMPARED: usize = 5_000;

/// Filter of operations, a list of patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OperationFilter {
    patterns: Vec<String>,
}

impl OperationFilter {
    /// Creates a filter. An error has the index of the invalid pattern and the reason.
    pub fn new(patterns: Vec<String>) -> Result<OperationFilter, (usize, String)> {
        if patterns.len() > MAX_PATTERNS {
            return Err((MAX_PATTERNS, format!("more than {MAX_PATTERNS} patterns")));
        }
        match patterns.iter().position(|pattern| pattern.trim().is_empty() || pattern.len() > MAX_PATTERN_BYTES) {
            Some(index) => Err((index, format!("a pattern must have 1 to {MAX_PATTERN_BYTES} bytes"))),
            None => Ok(OperationFilter { patterns }),
        }
    }

    /// Returns true if it has no patterns; such a filter selects every operation.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Indices of the patterns that match an operation.
    fn selecting(&self, operation: &Operation<'_>) -> Vec<usize> {
        let id = operation.node.value.get("operationId").and_then(|id| id.as_str()).unwrap_or_default();
        let tags = operation.node.get("tags").map(|tags| tags::known(tags.value)).unwrap_or_default();
        let is_selected = |pattern: &String| match pattern.split_once(' ') {
            _ if pattern.starts_with("tag:") => tags.iter().any(|tag| matches_pattern(&pattern[4..], tag, false)),
            Some((method, path)) if is_method(method) => {
                method.eq_ignore_ascii_case(operation.method) && matches_pattern(path.trim(), operation.path, true)
            }
            _ if pattern.starts_with('/') => matches_pattern(pattern, operation.path, true),
            _ => matches_pattern(pattern, id, false),
        };
        let patterns = self.patterns.iter().enumerate();
        patterns.filter(|(_, pattern)| is_selected(pattern)).map(|(index, _)| index).collect()
    }
}

fn is_method(word: &str) -> bool {
    METHODS.iter().any(|method| method.eq_ignore_ascii_case(word))
}

/// Keeps the operations that a filter selects. A pattern that matches none is an error, since the missing function
/// would be noticed only when a script needs it.
pub(super) fn select<'a>(
    operations: Vec<Operation<'a>>,
    filter: &OperationFilter,
    paths: &Node<'a>,
) -> Result<Vec<Operation<'a>>, SourceError> {
    if filter.is_empty() {
        return match operations.get(MAX_FUNCTIONS) {
            Some(operation) => Err(too_many(&operation.node, operations.len())),
            None => Ok(operations),
        };
    }
    let mut used = vec![false; filter.patterns.len()];
    let mut selected = Vec::new();
    let mut known = Known::default();
    for operation in operations {
        known.add(&operation);
        let selecting = filter.selecting(&operation);
        if !selecting.is_empty() {
            selecting.into_iter().for_each(|index| used[index] = true);
            selected.push(operation);
        }
    }
    if let Some(index) = used.iter().position(|is_used| !is_used) {
        let pattern = &filter.patterns[index];
        let message = format!("no operation matches {pattern:?} of \"operations\"");
        let fix = match known.nearest(pattern) {
            Some(near) => format!("Did you mean {near:?}?"),
            None => "Write an operationId, \"tag:NAME\", a path, or a method and a path.".to_owned(),
        };
        return Err(paths.error(message, fix));
    }
    match selected.get(MAX_FUNCTIONS) {
        Some(operation) => Err(too_many(&operation.node, selected.len())),
        None => Ok(selected),
    }
}

/// Names by which the operations of a document can be selected.
#[derive(Default)]
struct Known<'a> {
    ids: Vec<&'a str>,
    tags: BTreeSet<String>,
    /// Methods and paths.
    routes: Vec<(&'static str, &'a str)>,
}

impl<'a> Known<'a> {
    fn add(&mut self, operation: &Operation<'a>) {
        if self.routes.len() >= MAX_COMPARED {
            return;
        }
        self.ids.extend(operation.node.value.get("operationId").and_then(|id| id.as_str()));
        let tags = operation.node.get("tags").map(|tags| tags::known(tags.value)).unwrap_or_default();
        self.tags.extend(tags.into_iter().take(MAX_COMPARED - self.tags.len().min(MAX_COMPARED)));
        self.routes.push((operation.method, operation.path));
    }

    /// Suggestion for a pattern, of the same kind.
    fn nearest(&self, pattern: &str) -> Option<String> {
        if let Some(tag) = pattern.strip_prefix("tag:") {
            return nearest(tag, self.tags.iter().map(String::as_str)).map(|near| format!("tag:{near}"));
        }
        let paths = || self.routes.iter().map(|(_, path)| *path);
        match pattern.split_once(' ').map(|(method, path)| (method, path.trim())) {
            Some((method, path)) if is_method(method) => {
                let of_method = self.routes.iter().filter(|(own, _)| own.eq_ignore_ascii_case(method));
                let is_there = paths().any(|known| matches_pattern(path, known, true));
                // The same path with another method, or else the nearest path.
                let near = match is_there {
                    true => None,
                    false => nearest(path, of_method.map(|(_, path)| *path)),
                };
                let route = |wanted: &str| self.routes.iter().find(|(_, known)| matches_pattern(wanted, known, true));
                match near {
                    Some(near) => Some(format!("{} {near}", method.to_uppercase())),
                    None => {
                        let (method, path) = route(path).or_else(|| route(nearest(path, paths())?))?;
                        Some(format!("{} {path}", method.to_uppercase()))
                    }
                }
            }
            _ if pattern.starts_with('/') => nearest(pattern, paths()).map(str::to_owned),
            _ => nearest(pattern, self.ids.iter().copied()).map(str::to_owned),
        }
    }
}

fn too_many(node: &Node<'_>, count: usize) -> SourceError {
    let message = format!("{count} functions, more than {MAX_FUNCTIONS}");
    node.error(message, TOO_LARGE)
}

/// Fix for a document that is too large.
pub const TOO_LARGE: &str = "Split it; or, of an OpenAPI document, select the operations that scripts need: name it in \
    the configuration as {\"path\": \"./api.json\", \"operations\": [\"tag:issues\", \"GET /repos/**\", \"listPets\"]}.";

/// Returns true if a text matches a pattern.
fn matches_pattern(pattern: &str, text: &str, is_path: bool) -> bool {
    if text.is_empty() || text.len() > MAX_PATTERN_BYTES {
        return false;
    }
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    // The last star: the pattern after it, the text after what it matched, and whether it matches a `/`.
    let mut star: Option<(usize, usize, bool)> = None;
    let (mut at, mut of) = (0, 0);
    loop {
        if pattern.get(of) == Some(&b'*') {
            let is_double = pattern.get(of + 1) == Some(&b'*');
            of += if is_double { 2 } else { 1 };
            star = Some((of, at, !is_path || is_double));
            continue;
        }
        match (text.get(at), pattern.get(of)) {
            (None, None) => return true,
            (Some(one), Some(other)) if one == other => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((after, taken, takes_slash)) = star else { return false };
                match text.get(taken) {
                    Some(b'/') if !takes_slash => return false,
                    None => return false,
                    Some(_) => {}
                }
                star = Some((after, taken + 1, takes_slash));
                (at, of) = (taken + 1, after);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn stars_match_text() {
        for (pattern, text) in [("issues/*", "issues/list-for-repo"), ("*", "x"), ("list*s", "listPets"), ("a", "a")] {
            assert!(matches_pattern(pattern, text, false), "{pattern} {text}");
        }
        for (pattern, text) in [("issues/*", "repos/list"), ("list", "listPets"), ("*", ""), ("a*b", "ab-")] {
            assert!(!matches_pattern(pattern, text, false), "{pattern} {text}");
        }
    }

    #[test]
    fn one_star_in_a_path_stays_in_its_segment() {
        for (pattern, text) in
            [("/pets/*", "/pets/{petId}"), ("/pets/**", "/pets/{petId}/toys"), ("/**/toys", "/pets/1/toys")]
        {
            assert!(matches_pattern(pattern, text, true), "{pattern} {text}");
        }
        for (pattern, text) in [("/pets/*", "/pets/1/toys"), ("/pets/**", "/pet"), ("/pets", "/pets/1")] {
            assert!(!matches_pattern(pattern, text, true), "{pattern} {text}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_bounded_time() {
        assert!(!matches_pattern(&format!("{}b", "a*".repeat(100)), &"a".repeat(500), false));
    }
}
