#![no_main]

use capability_gen::names::{Scope, camel, kebab, pascal, snake};
use std::collections::HashSet;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut scope = Scope::default();
    let mut given = HashSet::new();
    for source in text.split('\n') {
        let wit = kebab(source);
        let is_word = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_lowercase())
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        assert!(wit.split('-').all(is_word), "{source:?} → {wit:?}");
        let rust = snake(source);
        let rust = rust.strip_prefix("r#").unwrap_or(&rust).to_owned();
        for name in [camel(source), pascal(source), rust] {
            let is_identifier = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            assert!(is_identifier, "{source:?} → {name:?}");
        }
        assert!(given.insert(scope.add(&wit)), "{source:?} got a name that is taken");
    }
});
