//! Escaping of names and free text in TypeScript, JavaScript and JSON.

use crate::hidden::is_hidden;
use crate::model::{Capability, Function};

/// Label of a function in scripts, logs and policies: `trainSchedule.getSchedule`.
pub(super) fn function_id(capability: &Capability, function: &Function) -> String {
    format!("{}.{}", capability.label(), function.js_name)
}

/// Returns true if TypeScript and JavaScript accept it as a member's name without quotes. ASCII only, so that
/// look-alike characters are always quoted.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let is_start = |character: char| character.is_ascii_alphabetic() || character == '_' || character == '$';
    characters.next().is_some_and(is_start)
        && characters.all(|character| is_start(character) || character.is_ascii_digit())
}

/// A string literal in single quotes, the same in TypeScript and JavaScript.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('\'');
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // `</script`, `<script` and `<!--` have a meaning if the text is embedded in an HTML page.
            '<' if matches!(characters.peek(), Some('/' | '!' | 's' | 'S')) => out.push_str("\\u003c"),
            hidden if is_hidden(hidden) && u32::from(hidden) > 0xffff => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(hidden)));
            }
            hidden if is_hidden(hidden) => out.push_str(&format!("\\u{:04x}", u32::from(hidden))),
            plain => out.push(plain),
        }
    }
    out.push('\'');
}

/// A member's name in a TypeScript type.
pub(super) fn push_property(out: &mut String, name: &str) {
    if is_identifier(name) { out.push_str(name) } else { push_quoted(out, name) }
}

/// JSON with every hidden character in its strings escaped; the value is unchanged.
pub(super) fn reveal_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_hidden(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}
