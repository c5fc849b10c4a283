//! Missing globals, with replacements.

use super::Position;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // A test reads it.
    serde_json::from_str(include_str!("absent.json")).unwrap_or_default()
});

/// Replacements by name.
type Names = BTreeMap<String, String>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    everywhere: Names,
    script: Names,
    handler: Names,
    /// Methods of `crypto.subtle`.
    subtle: Names,
    /// Members of `Intl`.
    intl: Names,
}

/// Returns the replacement of a missing global; `None` if it exists or is not a known one.
pub fn global(name: &str, position: Position) -> Option<&'static str> {
    let own = match position {
        Position::Script => &TABLE.script,
        Position::Handler => &TABLE.handler,
    };
    own.get(name).or_else(|| TABLE.everywhere.get(name)).map(String::as_str)
}

/// Returns the replacement of the missing global that an uncaught error is about.
pub fn undefined_global(error: Option<&str>, message: &str, position: Position) -> Option<&'static str> {
    let name = message.strip_suffix(" is not defined").filter(|_| error == Some("ReferenceError"))?;
    global(name.trim_matches('\''), position)
}

/// Returns the message with which `crypto.subtle` rejects a call of this method.
pub fn subtle_method(name: &str) -> Option<String> {
    TABLE.subtle.get(name).map(|instead| format!("crypto.subtle.{name} is not available here: {instead}"))
}

/// Returns the replacement of a missing member of `Intl`.
pub fn intl_member(name: &str) -> Option<&'static str> {
    TABLE.intl.get(name).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use crate::absent::globals::*;

    #[test]
    fn hints_depend_on_where_code_stands() {
        let [script, handler] =
            [Position::Script, Position::Handler].map(|position| move |name| global(name, position));
        assert!(script("Buffer").is_some_and(|hint| hint.contains("Uint8Array")));
        assert_eq!(script("Buffer"), handler("Buffer"));
        assert!(script("process").is_some_and(|hint| hint.contains("no environment")));
        // Handlers have these.
        assert_eq!(["process", "fetch", "global"].map(handler), [None; 3]);
        assert_ne!(script("fs"), handler("fs"));
        assert_eq!(script("Intl"), None, "it is there");
        assert_eq!(script("misspelt"), None);
    }

    #[test]
    fn only_an_undefined_name_has_a_hint() {
        let hint = |name, message| undefined_global(Some(name), message, Position::Script);
        assert!(hint("ReferenceError", "Buffer is not defined").is_some());
        assert!(hint("ReferenceError", "'Buffer' is not defined").is_some());
        assert_eq!(hint("TypeError", "Buffer is not defined"), None);
        assert!(subtle_method("sign").is_some_and(|text| text.contains("crypto.hmac")));
        assert!(intl_member("Segmenter").is_some());
    }
}
