//! Programs in requests.

use crate::problem::Problem;
use serde::Deserialize;
use utoipa::ToSchema;

/// Longest name and description, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1_000;
/// Longest source, in bytes: a document has at most 1 MiB.
const MAX_SOURCE: usize = 512 << 10;

/// Program to publish.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewProgram {
    /// Name: letters, digits, `-` and `_`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9][A-Za-z0-9_-]*$")]
    pub(super) name: String,
    /// TypeScript or JavaScript module.
    #[schema(min_length = 1, max_length = 524288)]
    pub(super) source: String,
    /// Description, for people.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(max_length = 1000)]
    pub(super) description: Option<String>,
}

impl NewProgram {
    /// Checks its members.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if !is_name(&self.name) {
            let detail =
                format!("expected 1 to {MAX_NAME} letters, digits, `-` and `_`, beginning with a letter or digit");
            return Err(Problem::invalid("/name", detail));
        }
        if self.source.is_empty() || self.source.len() > MAX_SOURCE {
            return Err(Problem::invalid("/source", format!("expected 1 to {MAX_SOURCE} bytes")));
        }
        match self.description.as_ref().is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
            true => Err(Problem::invalid("/description", format!("expected at most {MAX_DESCRIPTION} characters"))),
            false => Ok(()),
        }
    }

    /// Returns the text by which a repeated request is known: everything that its caller chose.
    pub(super) fn keyed(&self) -> String {
        serde_json::json!([self.name, self.source, self.description]).to_string()
    }
}

/// Returns true if a text may be the name of a program.
pub(super) fn is_name(name: &str) -> bool {
    let is_first = |one: u8| one.is_ascii_alphanumeric();
    let is_plain = |one: u8| is_first(one) || one == b'-' || one == b'_';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().next().is_some_and(is_first) && name.bytes().all(is_plain)
}

/// Returns the number of a version, from one; `None` if a text is none.
pub(super) fn version_number(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::version_number;

    #[test]
    fn versions_are_numbered_from_one() {
        assert_eq!((version_number("1"), version_number("4294967295")), (Some(1), Some(u32::MAX)));
        for wrong in ["", "0", "01", "+1", "-1", "1.0", " 1", "4294967296", "x"] {
            assert_eq!(version_number(wrong), None, "{wrong}");
        }
    }
}
