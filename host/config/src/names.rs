//! Syntax of names in a configuration: spaces, servers, toolboxes, modules.

use super::config_path::ConfigPath;
use super::error::quoted;
use super::reader::Result;

/// Maximum length of a name in bytes; names become parts of file names.
pub(super) const NAME_BYTES: usize = 64;

/// Returns true if `text` is a valid name: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
pub(super) fn is_name(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    text.len() <= NAME_BYTES
        && text.bytes().all(part)
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

/// Refuses an invalid name.
pub(super) fn check_name(path: &ConfigPath<'_>, what: &str, name: &str) -> Result<()> {
    if is_name(name) {
        return Ok(());
    }
    Err(path.error(format!("{} cannot be the name of {what}", quoted(name))).with_fix(format!(
        "use at most {NAME_BYTES} letters, digits, `.`, `_` and `-`, with a letter or a digit first"
    )))
}

/// Returns true if `text` is a scoped module name: `@company/internal-sdk`.
pub(super) fn is_scoped_module(text: &str) -> bool {
    let parts = text.strip_prefix('@').and_then(|rest| rest.split_once('/'));
    parts.is_some_and(|(scope, name)| is_name(scope) && is_name(name))
}

#[cfg(test)]
mod tests {
    use crate::names::{is_name, is_scoped_module};

    #[test]
    fn names_are_safe_in_paths_and_addresses() {
        for name in ["my-space", "A", "v1.2_b", "0", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "-x", "_x", "a/b", "a\\b", "a b", "ä", "a\0", "a\n", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn modules_have_a_scope_and_one_name() {
        assert!(is_scoped_module("@company/internal-sdk"));
        for name in ["company", "@company", "@/x", "@a/", "@a/b/c", "@a/../b", "@../b", "a/b", "@@a/b"] {
            assert!(!is_scoped_module(name), "{name}");
        }
    }
}
