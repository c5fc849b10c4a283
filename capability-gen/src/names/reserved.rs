//! Reserved words of WIT, JavaScript and Rust.

/// Returns true if WIT must escape this name with a `%`.
pub fn is_wit_keyword(kebab: &str) -> bool {
    WIT.contains(&kebab)
}

/// A name that `export function NAME` or `export const NAME` may declare: the name itself, or with a trailing `_` if it
/// is reserved.
pub fn js_binding(camel: &str) -> String {
    if JAVASCRIPT.contains(&camel) { format!("{camel}_") } else { camel.to_owned() }
}

/// A snake_case name as a valid Rust identifier.
pub(super) fn rust_name(snake: String) -> String {
    match snake.as_str() {
        "self" | "super" | "crate" => format!("{snake}_"),
        name if RUST.contains(&name) => format!("r#{snake}"),
        _ => snake,
    }
}

#[rustfmt::skip]
const WIT: &[&str] = &[
    "as", "async", "bool", "borrow", "char", "constructor", "enum", "error-context", "export", "f32", "f64", "flags",
    "from", "func", "future", "import", "include", "interface", "list", "map", "option", "own", "package", "record",
    "resource", "result", "s16", "s32", "s64", "s8", "static", "stream", "string", "tuple", "type", "u16", "u32",
    "u64", "u8", "use", "variant", "with", "world",
];

/// Reserved words of strict module code, the names it may not bind, and `undefined`, which must not be shadowed.
#[rustfmt::skip]
const JAVASCRIPT: &[&str] = &[
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
    "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements",
    "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public",
    "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "undefined", "var", "void",
    "while", "with", "yield",
];

#[rustfmt::skip]
const RUST: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
