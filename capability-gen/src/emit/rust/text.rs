//! Escaping of untrusted text in Rust source.

use crate::hidden::is_hidden;
use crate::names;
use std::collections::HashMap;

/// Maximum length of a description.
const MAX_DOCS: usize = 2_000;
const MAX_LINES: usize = 40;
/// Names that the generated file uses.
const RESERVED_TYPES: [&str; 16] = [
    "BTreeMap",
    "Box",
    "Deserialize",
    "Err",
    "Never",
    "None",
    "Ok",
    "Option",
    "Result",
    "Self",
    "Serialize",
    "Some",
    "String",
    "TypedCall",
    "Value",
    "Vec",
];
/// Crates that the generated file refers to.
pub(super) const RESERVED_MODULES: [&str; 6] = ["agent_spaces", "alloc", "core", "serde", "serde_json", "std"];
const KEYWORDS: [&str; 49] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Keywords without a raw form `r#`.
const NEVER_NAMES: [&str; 5] = ["self", "super", "crate", "_", "Self"];

/// A scope of type names, with the reserved ones.
pub(super) fn type_scope() -> Distinct {
    let mut scope = Distinct::default();
    for name in RESERVED_TYPES {
        scope.add(name);
    }
    scope
}

/// A type's or a variant's name: PascalCase.
pub(super) fn pascal(source: &str) -> String {
    let name = identifier(&names::pascal(source));
    if name.starts_with(|first: char| first.is_ascii_uppercase()) && name != "Self" { name } else { format!("N{name}") }
}

/// A field's, function's or module's name: snake_case. May still be a keyword: see [`raw`].
pub(super) fn snake(source: &str) -> String {
    let name = identifier(&names::kebab(source).replace('-', "_"));
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase()) && !NEVER_NAMES.contains(&name.as_str());
    if is_name { name } else { format!("n_{name}") }
}

/// A name as it is written: `r#type`.
pub(super) fn raw(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

fn identifier(name: &str) -> String {
    name.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '_').collect()
}

/// A string literal, with hidden characters escaped.
pub(super) fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            plain if plain.is_ascii_graphic() || plain == ' ' || plain.is_alphanumeric() => literal.push(plain),
            other => literal.push_str(&format!("\\u{{{:x}}}", u32::from(other))),
        }
    }
    literal.push('"');
    literal
}

/// Doc comments from paragraphs of untrusted text; each line starts with `start` (`///`).
///
/// Code blocks in doc comments are compiled and run as tests, so the text must not contain one: no fences, and no
/// indented line or list item.
pub(super) fn docs(indent: &str, start: &str, paragraphs: &[String]) -> String {
    let mut out = String::new();
    let mut lines = 0;
    let mut left = MAX_DOCS;
    for paragraph in paragraphs {
        let mut is_first = true;
        for line in paragraph.lines().map(plain).filter(|line| !line.is_empty()) {
            if lines == MAX_LINES || left == 0 {
                out.push_str(&format!("{indent}{start} …\n"));
                return out;
            }
            if is_first && lines > 0 {
                out.push_str(&format!("{indent}{start}\n"));
            }
            is_first = false;
            lines += 1;
            let cut: String = line.chars().take(left).collect();
            left -= cut.chars().count();
            out.push_str(&format!("{indent}{start} {cut}\n"));
        }
    }
    out
}

fn plain(line: &str) -> String {
    let mut text = String::new();
    for word in line.split(|character: char| character.is_whitespace() || character.is_control()) {
        let word: String = word.chars().filter(|character| !is_hidden(*character)).collect();
        if !word.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word);
        }
    }
    for (fence, instead) in [("```", "''"), ("~~~", "~")] {
        while text.contains(fence) {
            text = text.replace(fence, instead);
        }
    }
    text
}

/// Scope of unique names.
#[derive(Clone, Debug, Default)]
pub(super) struct Distinct(HashMap<String, usize>);

impl Distinct {
    /// `wanted`, or the first free name derived from it.
    pub(super) fn add(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.0.contains_key(&name) {
            let count = self.0.entry(wanted.to_owned()).or_insert(1);
            *count += 1;
            name = format!("{wanted}{count}");
        }
        self.0.insert(name.clone(), 1);
        name
    }
}
