//! Naming scheme: from a source's name to JavaScript, TypeScript, WIT and Rust identifiers.
//!
//! A name is split into **words**; the words, joined with `-`, are the WIT name ([`kebab`]), and the names of the
//! other languages are derived from it: [`camel`] (JavaScript), [`pascal`] (TypeScript types), [`snake`] (Rust).
//! Providers get the source's own name, which is never recovered from these.
//!
//! # Words
//!
//! | in the source | becomes |
//! |---|---|
//! | ASCII letters | a lower-case word; a new one where the case changes: `getHTTPServer` → `get-http-server` |
//! | ASCII digits | part of the word before them: `utf8Text` → `utf8-text`, `a-1` → `a1`; at the start of a name, prefixed with `n`: `2nd` → `n2nd` |
//! | `_ - . / : , ; ( ) [ ] { }`, white space, control characters | the end of a word |
//! | `-` as the very first character | the word `minus`: `-created` → `minus-created` |
//! | other ASCII punctuation | a word of its own: `StartTime<` → `start-time-lt`, `C++` → `c-plus-plus` |
//! | any other character | a word of its code point: `é` → `u00e9` |
//! | separators and nothing else | each is a word: `,` → `comma` |
//! | nothing at all | `empty` |
//!
//! No word starts with a digit: not every WIT parser accepts that, and `a-1` and `a1` would have the same
//! camelCase name. So different kebab names always have different camelCase, PascalCase and snake_case.
//!
//! # Length
//!
//! A name of more than [`MAX_LENGTH`] characters is cut at a word and ends in `-x` and eight digits of
//! the source's SHA-256.
//!
//! # Collisions
//!
//! If two source names result in the same name, [`Scope`] appends `-x` and eight digits of its SHA-256 to one of them.

mod module;
mod reserved;
mod scope;
mod words;

pub use agent_spaces_types::nearest::nearest;
pub use module::{module_name, single_function_module, without_prefix};
pub use reserved::{is_wit_keyword, js_binding};
pub use scope::{Collision, Scope};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// Maximum length of a name, in characters. The name of a nested type contains its parent's, so it must be bounded.
pub const MAX_LENGTH: usize = 64;

/// The WIT name: `get-schedule`. A valid identifier unless it [is a keyword](is_wit_keyword).
pub fn kebab(source: &str) -> String {
    let name = words::join(source, MAX_LENGTH + 1);
    if name.len() <= MAX_LENGTH { name } else { marked(&name, source, 0) }
}

/// The JavaScript name: `getSchedule`.
pub fn camel(source: &str) -> String {
    camel_of(&kebab(source))
}

/// The TypeScript type name: `GetSchedule`.
pub fn pascal(source: &str) -> String {
    let mut name = camel(source);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// The Rust name: `get_schedule`; a keyword as `r#type`, or `self_` if Rust has no raw form.
pub fn snake(source: &str) -> String {
    reserved::rust_name(kebab(source).replace('-', "_"))
}

/// The camelCase of a kebab name.
fn camel_of(kebab: &str) -> String {
    let mut camel = String::with_capacity(kebab.len());
    for (index, word) in kebab.split('-').enumerate() {
        let mut characters = word.chars();
        match characters.next() {
            Some(first) if index > 0 => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(characters.as_str());
    }
    camel
}

/// `name`, truncated at a word if necessary, with a suffix derived from the source. Each attempt has another suffix.
fn marked(name: &str, source: &str, attempt: usize) -> String {
    const MARK: usize = "-x01234567".len();
    let mut kept = name;
    if kept.len() > MAX_LENGTH - MARK {
        kept = &kept[..MAX_LENGTH - MARK];
        // A word that was cut in the middle is dropped, unless nothing else is left.
        if !name[kept.len()..].starts_with('-')
            && let Some(end) = kept.rfind('-')
        {
            kept = &kept[..end];
        }
    }
    let mut hash = Sha256::new_with_prefix(source);
    if attempt > 0 {
        hash.update([0]);
        hash.update(attempt.to_le_bytes());
    }
    let hash = hash.finalize();
    format!("{}-x{}", kept.trim_end_matches('-'), HEXLOWER.encode(&hash[..4]))
}
