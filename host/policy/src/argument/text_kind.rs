//! Texts that are exactly one e-mail address, repository or path.
//!
//! Prevents injection: a comma makes a list of addresses, and a `?` ends a path. A text of a kind contains no
//! separator.

use serde::Serialize;
use std::fmt;

/// Separators in lists, URLs, headers and queries. A `*` beside other text matches none of them.
pub(super) const SEPARATORS: &str = ",;?#&=<>\"'|@:";

/// Longest local part of an e-mail address.
const MAX_LOCAL_BYTES: usize = 64;

/// Kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    /// One e-mail address: `ada@acme.com`.
    Address,
    /// One repository: `acme/site`.
    Repository,
    /// One path of a file or folder: `data/2026/report 1.csv`.
    Path,
}

impl TextKind {
    /// Every kind.
    pub const ALL: [TextKind; 3] = [TextKind::Address, TextKind::Repository, TextKind::Path];

    /// Returns the key of the constraint in the configuration.
    pub fn key(self) -> &'static str {
        match self {
            TextKind::Address => "address",
            TextKind::Repository => "repository",
            TextKind::Path => "path",
        }
    }

    /// True if a canonical text is exactly one of this kind.
    pub(super) fn is_one(self, text: &str) -> bool {
        // A leading dash would be parsed as a command-line option.
        if text.starts_with('-') {
            return false;
        }
        match self {
            TextKind::Address => is_address(text),
            TextKind::Repository => text.split_once('/').is_some_and(|(owner, name)| is_word(owner) && is_word(name)),
            TextKind::Path => text.strip_prefix('/').unwrap_or(text).split('/').all(is_path_part),
        }
    }
}

fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_local = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-');
    let is_label = |label: &str| {
        let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = label.as_bytes();
        is_edge(bytes.first())
            && is_edge(bytes.last())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    (1..=MAX_LOCAL_BYTES).contains(&local.len()) && local.bytes().all(is_local) && domain.split('.').all(is_label)
}

fn is_word(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !text.is_empty() && text.bytes().all(is_known)
}

fn is_path_part(part: &str) -> bool {
    // Special characters of shells and URLs.
    let is_special = |character: char| SEPARATORS.contains(character) || "*$`!~{}[]".contains(character);
    !part.is_empty() && part.trim() == part && !part.contains(is_special)
}

impl fmt::Display for TextKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            TextKind::Address => "an address",
            TextKind::Repository => "a repository",
            TextKind::Path => "a path",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::TextKind::{self, Address, Path, Repository};

    fn check(kind: TextKind, one: &[&str], others: &[&str]) {
        for text in one {
            assert!(kind.is_one(text), "{kind}: {text}");
        }
        for text in others {
            assert!(!kind.is_one(text), "{kind}: {text}");
        }
    }

    #[test]
    fn an_address_is_exactly_one_address() {
        let others = [
            "evil@evil.com,x@acme.com",
            "evil@evil.com;x@acme.com",
            "evil@evil.com x@acme.com",
            "a@b@acme.com",
            "\"a@evil.com\"@acme.com",
            "<a@acme.com>",
            "Ada <a@acme.com>",
            "a@acme.com?cc=e@evil.com",
            "@acme.com",
            "a@",
            "a@acme..com",
            "a@-acme.com",
            "a@acme.com.",
            "a%e@acme.com",
            "-a@acme.com",
            "a@acme.com/x",
            "a@[1.2.3.4]",
            "",
        ];
        check(Address, &["ada@acme.com", "a.b+c_d-e@mail.acme.com", "a@localhost"], &others);
        assert!(!Address.is_one(&format!("{}@acme.com", "a".repeat(65))));
    }

    #[test]
    fn a_repository_is_exactly_one_owner_and_name() {
        let others = [
            "acme",
            "acme/",
            "/x",
            "acme/x/y",
            "acme/x?repo=evil",
            "acme/x#y",
            "acme/x&a=b",
            "acme/x y",
            "acme/x,evil/y",
            "acme/x@v1",
            "acme/x:main",
            "-acme/x",
            "acme/é",
        ];
        check(Repository, &["acme/x", "acme/.github", "Acme-1/x_y.z"], &others);
    }

    #[test]
    fn a_path_is_exactly_one_path() {
        let others = [
            "data/x?y", "data/x#y", "data/a,b", "data/a;b", "data/a:b", "C:/x", "~/x", "$HOME/x", "data/*", "-rf",
            "a/{b,c}", "a//b", "data/ x", "data/x ", "a|b", "a/`b`",
        ];
        check(Path, &["data/a.csv", "/data/a b.csv", "x", "data/日本", "a-b/c_d"], &others);
    }
}
