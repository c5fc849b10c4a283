//! Translation of server names of other programs into valid names.

use super::super::names::{NAME_BYTES, is_name};

/// Returns true if a name needs no translation.
pub(super) fn is_valid(name: &str) -> bool {
    is_name(name)
}

/// Translates a name deterministically: `GitHub MCP` becomes `github-mcp`. `None` if nothing is left of it.
pub(super) fn normalise(name: &str) -> Option<String> {
    if is_name(name) {
        return Some(name.to_owned());
    }
    let mut own = String::new();
    for character in name.chars() {
        match character.to_ascii_lowercase() {
            kept if kept.is_ascii_alphanumeric() || matches!(kept, '.' | '_') => own.push(kept),
            _ if !own.ends_with('-') => own.push('-'),
            _ => {}
        }
        if own.len() > 2 * NAME_BYTES {
            break;
        }
    }
    let own = own.trim_matches(['-', '.', '_']);
    // Only ASCII is left, so any byte index is a character boundary.
    let own = own.get(..NAME_BYTES).unwrap_or(own).trim_end_matches(['-', '.', '_']);
    (!own.is_empty()).then(|| own.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::foreign::server_name::normalise;
    use crate::names::is_name;

    #[test]
    fn valid_names_stay_and_others_are_translated() {
        for (given, expected) in [
            ("github", "github"),
            ("GitHub.v2", "GitHub.v2"),
            ("GitHub MCP", "github-mcp"),
            ("io.github.acme/Files", "io.github.acme-files"),
            ("  a -- b  ", "a-b"),
            ("__proto__", "proto"),
            ("@acme/tools@1.2", "acme-tools-1.2"),
            ("Müller", "m-ller"),
            ("a\u{202e}\u{0}b", "a-b"),
        ] {
            assert_eq!(normalise(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn the_result_is_always_a_valid_name() {
        for given in ["", " ", "-._", "日本", "\0"] {
            assert_eq!(normalise(given), None, "{given}");
        }
        let long = "x y".repeat(1 << 16);
        let edge = format!("{}  tail", "x".repeat(63));
        for given in [long.as_str(), edge.as_str(), "-é.x", "ß9"] {
            assert!(normalise(given).is_some_and(|name| is_name(&name)), "{}", &given[..3]);
        }
    }
}
