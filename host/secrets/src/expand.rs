//! Expansion of `${VAR}`.

use super::secret::Secret;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Size limit of an expanded text, in bytes.
pub const MAX_EXPANDED: usize = 1 << 20;

/// Environment variables that are not secret.
const PLAIN: [&str; 9] = ["PATH", "HOME", "LANG", "LOGNAME", "SHELL", "TERM", "USER", "PWD", "TMPDIR"];

/// Variables of editors, which are undefined here unless they are set.
const OF_EDITORS: [&str; 7] =
    ["workspaceFolder", "workspaceFolderBasename", "workspaceRoot", "userHome", "pathSeparator", "cwd", "file"];

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Variables that `${VAR}` may refer to.
#[derive(Clone)]
pub struct Variables {
    lookup: Arc<Lookup>,
    given: BTreeMap<String, String>,
}

impl Variables {
    /// Uses the environment of this process.
    pub fn of_process() -> Variables {
        Variables { lookup: Arc::new(|name| std::env::var(name).ok()), given: BTreeMap::new() }
    }

    /// Uses only these variables.
    pub fn from_map(map: BTreeMap<String, String>) -> Variables {
        Variables { lookup: Arc::new(move |name| map.get(name).cloned()), given: BTreeMap::new() }
    }

    /// Adds a variable, such as `SPACE_DIR`. It is never secret, and shadows one of the same name.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Variables {
        self.given.insert(name.into(), value.into());
        self
    }

    /// Returns the value, and true if it is not secret.
    fn get(&self, name: &str) -> Option<(String, bool)> {
        match self.given.get(name) {
            Some(value) => Some((value.clone(), true)),
            None => (self.lookup)(name).map(|value| (value, PLAIN.contains(&name))),
        }
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Variables").field("given", &self.given.keys()).finish_non_exhaustive()
    }
}

/// Expanded text.
pub struct Expanded {
    /// The text.
    pub text: String,
    /// True if a secret variable was expanded.
    pub is_secret: bool,
    /// Values of the secret variables: each is a secret on its own.
    pub values: Vec<Secret>,
}

impl fmt::Debug for Expanded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Expanded").field("is_secret", &self.is_secret).finish_non_exhaustive()
    }
}

/// Error of expansion. The caller adds the location of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The variable is not set.
    #[error(
        "the variable `{name}` is not set, or is not UTF-8: set it, write `${{{name}:-default}}`, or `${{{name}:-}}` where it may be missing"
    )]
    MissingVariable {
        /// Its name.
        name: String,
    },
    /// A `${` without its `}`.
    #[error("`${{` has no matching `}}`: close it, or write `$${{` for a literal `${{`")]
    Unfinished,
    /// Syntax of an editor or a shell.
    #[error("`${{{form}}}` is not supported: {instead}")]
    Unsupported {
        /// The text between the braces.
        form: String,
        /// Suggested replacement.
        instead: &'static str,
    },
    /// The expanded text is over the size limit.
    #[error("the text is longer than {MAX_EXPANDED} bytes after expansion of its variables")]
    TooLarge,
}

/// Expands variables.
///
/// - `${NAME}` is the variable of that name. It must be set; it may be empty.
/// - `${NAME:-default}` is `default` if the variable is not set or empty. The default is plain text up to the matching
///   brace; variables in it are not expanded.
/// - `${env:NAME}` is `${NAME}`, as VS Code and Cursor write it.
/// - `$${` is `${`.
///
/// Any other `$` is literal. Other forms of `${…}` are errors, so that none reaches a server unnoticed.
pub fn expand(text: &str, variables: &Variables) -> Result<Expanded, ExpandError> {
    let mut expanded = Expanded { text: String::new(), is_secret: false, values: Vec::new() };
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        let after = from.strip_prefix("${").unwrap_or_default();
        if let Some(before) = before.strip_suffix('$') {
            expanded.text.push_str(before);
            expanded.text.push_str("${");
            rest = after;
        } else {
            expanded.text.push_str(before);
            let end = matching_brace(after).ok_or(ExpandError::Unfinished)?;
            fill_in(after.get(..end).unwrap_or_default(), variables, &mut expanded)?;
            rest = after.get(end + 1..).unwrap_or_default();
        }
        check_size(&expanded, rest)?;
    }
    expanded.text.push_str(rest);
    check_size(&expanded, "")?;
    Ok(expanded)
}

fn check_size(expanded: &Expanded, rest: &str) -> Result<(), ExpandError> {
    if expanded.text.len() + rest.len() > MAX_EXPANDED { Err(ExpandError::TooLarge) } else { Ok(()) }
}

/// Returns the offset of the brace that closes one that is already open.
fn matching_brace(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    text.bytes().position(|byte| {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        open == 0
    })
}

fn fill_in(form: &str, variables: &Variables, expanded: &mut Expanded) -> Result<(), ExpandError> {
    let (name, default) = match form.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (form, None),
    };
    let name = name.strip_prefix("env:").unwrap_or(name);
    if !is_name(name) {
        return Err(unsupported(form, instead_of(name)));
    }
    if default.is_some_and(|default| default.contains("${")) {
        return Err(unsupported(form, "a default is plain text, without variables in it"));
    }
    match (variables.get(name).filter(|(value, _)| default.is_none() || !value.is_empty()), default) {
        (Some((value, is_plain)), _) => {
            expanded.text.push_str(&value);
            if !is_plain && !value.is_empty() {
                expanded.is_secret = true;
                expanded.values.push(Secret::new(value));
            }
            Ok(())
        }
        (None, Some(default)) => {
            expanded.text.push_str(default);
            Ok(())
        }
        (None, None) if OF_EDITORS.contains(&name) => {
            Err(unsupported(form, "only editors define it; write the path itself, or a variable of the environment"))
        }
        (None, None) => Err(ExpandError::MissingVariable { name: name.to_owned() }),
    }
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn instead_of(name: &str) -> &'static str {
    match name.split_once(':').map(|(kind, _)| kind) {
        Some("input") => "there is no prompt here; put the value in a variable `NAME` and write `${NAME}`",
        Some("config" | "command") => "only editors define it; put the value in a variable `NAME` and write `${NAME}`",
        Some("workspaceFolder") => "only editors define it; write the path itself, or a variable of the environment",
        _ => "write `${NAME}` or `${NAME:-default}`, with letters, digits and `_` in the name",
    }
}

fn unsupported(form: &str, instead: &'static str) -> ExpandError {
    // The text is the operator's own, but may be long, or a misplaced secret.
    let form = form.chars().take(40).filter(|character| !character.is_control()).collect();
    ExpandError::Unsupported { form, instead }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
