//! Names of modules and their functions.

use super::kebab;

/// Verbs removed from the module name of a single function.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "add", "call", "check", "compute", "create", "delete", "describe", "do", "execute", "fetch", "find", "get", "list",
    "load", "lookup", "make", "post", "put", "query", "read", "remove", "retrieve", "run", "save", "search", "send",
    "set", "show", "update", "write",
];

/// The last part of a module's specifier: `trainSchedule` → `train-schedule`.
pub fn module_name(source: &str) -> String {
    kebab(source)
}

/// The module name of a single function: its name without a leading verb (`get_weather` → `weather`), or the whole name
/// if nothing else is left.
pub fn single_function_module(tool_name: &str) -> String {
    let name = kebab(tool_name);
    match name.split_once('-') {
        Some((verb, rest)) if VERBS.contains(&verb) => rest.to_owned(),
        _ => name,
    }
}

/// A tool's name without its server's prefix: `slack_list_channels` on `slack` → `list_channels`. Unchanged if the
/// server's name is not its prefix, or is the whole name.
pub fn without_prefix<'a>(function: &'a str, capability: &str) -> &'a str {
    let prefix = kebab(capability);
    // The shortest prefix, up to the end of a word, that is the server's name.
    for (end, character) in function.char_indices().take(4 * super::MAX_LENGTH) {
        let is_boundary = matches!(character, '_' | '-' | '.' | '/' | ':' | ' ') || character.is_ascii_uppercase();
        if !is_boundary || end == 0 || kebab(&function[..end]) != prefix {
            continue;
        }
        let rest = function[end..].trim_start_matches(['_', '-', '.', '/', ':', ' ']);
        // A rest that starts with a digit belongs to the previous word.
        if rest.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return rest;
        }
    }
    function
}
