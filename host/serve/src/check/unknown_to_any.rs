//! Declarations with `any` for `unknown`.

/// Replaces the type `unknown` by `any`. Most tools declare no result type, and using such a result directly is no
/// mistake.
pub(super) fn unknown_to_any(declarations: &str) -> String {
    let mut loose = String::with_capacity(declarations.len());
    let mut rest = declarations;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + "*/".len()),
            '\'' | '"' | '`' => quoted(rest, next),
            _ if is_name(next) => rest.find(|character| !is_name(character)).unwrap_or(rest.len()),
            _ => next.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        let is_member = || after.trim_start_matches('?').starts_with([':', '(']);
        loose.push_str(if piece == "unknown" && !is_member() { "any" } else { piece });
        rest = after;
    }
    loose
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// Returns the length of the quoted string at the start of a text.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use crate::check::unknown_to_any::unknown_to_any;

    #[test]
    fn only_the_type_unknown_is_replaced() {
        for (strict, loose) in [
            ("list(params: unknown): Promise<unknown>;", "list(params: any): Promise<any>;"),
            ("a: Record<string, unknown> | unknown[]", "a: Record<string, any> | any[]"),
            ("unknown: 1; unknown?: unknown; unknown(): void;", "unknown: 1; unknown?: any; unknown(): void;"),
            ("kind: 'unknown' | \"it's unknown\"", "kind: 'unknown' | \"it's unknown\""),
            ("a: 'it\\'s'; b: unknown", "a: 'it\\'s'; b: any"),
            ("// unknown\n/** unknown */ unknowns: unknown", "// unknown\n/** unknown */ unknowns: any"),
            ("`${unknown}` /* unknown", "`${unknown}` /* unknown"),
            ("'unknown", "'unknown"),
        ] {
            assert_eq!(unknown_to_any(strict), loose);
        }
    }
}
