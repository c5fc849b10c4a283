//! One scheme from a source's name to JavaScript, TypeScript, WIT and Rust.
//!
//! A name becomes **words**; the words, joined with `-`, are the WIT name ([`kebab`]), and every other
//! language's name is made from that one: [`camel`] (JavaScript), [`pascal`] (TypeScript types),
//! [`snake`] (Rust). The source's own name goes on the wire and is never recovered from these.
//!
//! # Words
//!
//! | in the source | becomes |
//! |---|---|
//! | ASCII letters | a lower-case word; a new one where the case changes: `getHTTPServer` → `get-http-server` |
//! | ASCII digits | part of the word before them: `utf8Text` → `utf8-text`, `a-1` → `a1`; first of all, `n` stands before them: `2nd` → `n2nd` |
//! | `_ - . / : , ; ( ) [ ] { }`, white space, control characters | the end of a word |
//! | `-` as the very first character | the word `minus`: `-created` → `minus-created` |
//! | other ASCII punctuation | a word of its own: `StartTime<` → `start-time-lt`, `C++` → `c-plus-plus` |
//! | any other character | a word of its code point: `é` → `u00e9` |
//! | separators and nothing else | each is a word: `,` → `comma` |
//! | nothing at all | `empty` |
//!
//! No word starts with a digit: not every WIT parser in use takes that, and `a-1` and `a1` would be one
//! camelCase name. So different kebab names always have different camelCase, PascalCase and snake_case.
//!
//! # Length
//!
//! A name of more than [`MAX_LENGTH`] characters is cut at a word and ends in `-x` and eight digits of
//! the source's SHA-256.
//!
//! # One scope, one name each
//!
//! Where two sources' names come out alike, a [`Scope`] gives one of them the same ending, `-x` and
//! eight digits of its own SHA-256: see there which one.

mod module;
mod nearest;
mod reserved;
mod scope;
mod words;

pub use module::{module_name, single_function_module, without_prefix};
pub use nearest::nearest;
pub use reserved::{is_wit_keyword, js_binding};
pub use scope::{Collision, Scope};

use sha2::{Digest, Sha256};

/// The longest name, in characters. A generated type's name is its parent's and its own together:
/// longer ones would be no help to a reader, and unbounded ones a way to fill memory.
pub const MAX_LENGTH: usize = 64;

/// The WIT name: `get-schedule`. Valid as it is unless it [is a keyword](is_wit_keyword).
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

/// The Rust name: `get_schedule`; a keyword as `r#type`, or `self_` where Rust has no raw form.
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

/// `name`, cut at a word where it must be, with an ending that only this source has.
/// Each attempt gives another one.
fn marked(name: &str, source: &str, attempt: usize) -> String {
    const MARK: usize = "-x01234567".len();
    let mut kept = name;
    if kept.len() > MAX_LENGTH - MARK {
        kept = &kept[..MAX_LENGTH - MARK];
        // A cut in the middle of a word drops the part that is left of it, unless nothing else is.
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
    format!("{}-x{:02x}{:02x}{:02x}{:02x}", kept.trim_end_matches('-'), hash[0], hash[1], hash[2], hash[3])
}
