//! Names that scripts never get at, whatever the policy says.
//!
//! A script that could write these would give itself capabilities, commands or trust; one that could read them would
//! see what belongs to the operator.

use capability_gen::hidden::is_hidden;

const PROTECTED: [&str; 5] = [".agent-spaces", "agent-spaces.config", "capabilities.lock", ".mcp.json", ".git"];

/// `agent-spaces.config.json`, `.toml`, `.ts` and what may come.
const PROTECTED_START: &str = "agent-spaces.config.";

/// What the names of [files that are being written](super::temporary) begin with.
pub(super) const TEMPORARY_START: &str = ".agent-spaces-write-";

/// The first six letters of the protected names as FAT and NTFS shorten them: `.git` can also be opened as `GIT~1`.
const SHORTENED: [&str; 4] = ["agent-", "capabi", "git", "mcp"];

/// Whether a file system could take this name for a protected one. Names are compared as the least exact file systems
/// do: without regard to case, to characters that cannot be seen, and to dots and spaces at the end.
pub fn is_protected(name: &str) -> bool {
    let name = folded(name);
    PROTECTED.contains(&name.as_str()) || name.starts_with(PROTECTED_START) || is_shortened(&name)
}

/// Whether this is the name of a file that is being written.
pub(super) fn is_temporary(name: &str) -> bool {
    folded(name).starts_with(TEMPORARY_START)
}

fn folded(name: &str) -> String {
    let seen = name.chars().filter(|character| !is_hidden(*character));
    // Upper case first: `ſ` has `S` as its upper case, but itself as its lower case.
    let folded: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// `git~1`, and `gi7eba~1`: two letters and a hash, once several names share a beginning.
fn is_shortened(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let Some((letters, number)) = stem.split_once('~') else { return false };
    let is_hashed = |start: &str| {
        letters.strip_prefix(start).is_some_and(|hash| hash.len() == 4 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    number.starts_with(|digit: char| digit.is_ascii_digit())
        && SHORTENED.iter().any(|known| *known == letters || known.get(..2).is_some_and(is_hashed))
}

#[cfg(test)]
mod tests {
    use super::{is_protected, is_temporary};

    #[test]
    fn protected_names_are_known_in_any_spelling_a_file_system_may_accept() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git ",
            ".git. .",
            ".g\u{200c}it",
            ".g\u{131}t",
            "GIT~1",
            "git~12",
            "gi7eba~1",
            ".agent-spaces",
            ".AGENT-SPACES",
            ".Agent-Spaces",
            ".agent-\u{17f}paces",
            "AGENT-~1",
            "capabilities.lock",
            "CAPABILITIES.LOCK",
            "CAPABI~1.LOC",
            ".mcp.json",
            ".MCP.json",
            "MCP~1.JSO",
            "agent-spaces.config.json",
            "agent-spaces.config.toml",
            "Agent-Spaces.Config.TS",
            "agent-spaces.config.",
            "agent-spaces.config.local.json",
        ] {
            assert!(is_protected(name), "{name:?}");
        }
    }

    #[test]
    fn names_that_only_resemble_protected_ones_are_free() {
        for name in [
            "git",
            ".gitignore",
            ".github",
            "a.git",
            "agent-spaces",
            "agent-spaces.configuration",
            "mcp.json",
            "~1",
            "capabilities.lock.md",
            "digit~1",
            "git~",
            "report~1.txt",
            "GIT~x",
            "",
        ] {
            assert!(!is_protected(name), "{name:?}");
        }
    }

    #[test]
    fn temporary_names_are_known_in_any_case() {
        assert!(is_temporary(".agent-spaces-write-00ff"));
        assert!(is_temporary(".AGENT-SPACES-WRITE-00ff"));
        assert!(!is_temporary("agent-spaces-write-00ff"));
    }
}
