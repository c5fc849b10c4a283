//! What a module and its functions are called.

use super::kebab;

/// The verbs that a single function's module is named without.
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

/// The module of a tool that is one bare function: its name without the verb it begins with
/// (`get_weather` → `weather`), or the whole name where nothing else is in it.
pub fn single_function_module(tool_name: &str) -> String {
    let name = kebab(tool_name);
    match name.split_once('-') {
        Some((verb, rest)) if VERBS.contains(&verb) => rest.to_owned(),
        _ => name,
    }
}

/// A tool's name without its server's own: `slack_list_channels` on `slack` → `list_channels`.
/// Unchanged where the server's name is not the first of its words, or is all of them.
pub fn without_prefix<'a>(function: &'a str, capability: &str) -> &'a str {
    let prefix = kebab(capability);
    // The shortest beginning, up to a word's end, that is the server's name.
    for (end, character) in function.char_indices().take(4 * super::MAX_LENGTH) {
        let is_boundary = matches!(character, '_' | '-' | '.' | '/' | ':' | ' ') || character.is_ascii_uppercase();
        if !is_boundary || end == 0 || kebab(&function[..end]) != prefix {
            continue;
        }
        let rest = function[end..].trim_start_matches(['_', '-', '.', '/', ':', ' ']);
        // A rest that begins with a digit belongs to the word before it.
        if rest.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return rest;
        }
    }
    function
}
