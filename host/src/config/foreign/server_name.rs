//! Another program's name of a server as one of ours.

use super::super::names::{NAME_BYTES, is_name};

/// Whether a name can stay as it is.
pub(super) fn is_own(name: &str) -> bool {
    is_name(name)
}

/// The name here, always the same for the same text: `GitHub MCP` is `github-mcp`. None where nothing of it is left.
pub(super) fn own(name: &str) -> Option<String> {
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
    // Only ASCII is left, so every byte ends a character.
    let own = own.get(..NAME_BYTES).unwrap_or(own).trim_end_matches(['-', '.', '_']);
    (!own.is_empty()).then(|| own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::super::names::is_name;
    use super::own;

    #[test]
    fn a_name_of_ours_stays_and_others_become_one() {
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
            assert_eq!(own(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn whatever_is_given_the_result_is_a_name() {
        for given in ["", " ", "-._", "日本", "\0"] {
            assert_eq!(own(given), None, "{given}");
        }
        let long = "x y".repeat(1 << 16);
        let edge = format!("{}  tail", "x".repeat(63));
        for given in [long.as_str(), edge.as_str(), "-é.x", "ß9"] {
            assert!(own(given).is_some_and(|name| is_name(&name)), "{}", &given[..3]);
        }
    }
}
