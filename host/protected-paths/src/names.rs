//! Protected names, per kind of access.

use super::name_folding::{folded, is_short_form};
use std::path::Path;

/// Kind of access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Import, read, list or stat.
    Read,
    /// Create, write or delete.
    Write,
}

/// Prefix of hidden names, all protected: `.git`, `.env`, `.ssh`, `.cursor`, `.npmrc`. Programs keep configuration,
/// state and credentials under such names, and nobody can list all programs.
const HIDDEN_START: char = '.';

/// Other protected names.
const CLOSED: [&str; 8] = [
    "agent-spaces.config",
    "capabilities.lock",
    // Files of MCP servers, often with tokens.
    "mcp.json",
    "mcp_config.json",
    "claude_desktop_config.json",
    // Settings folder of programs on macOS and Windows.
    "application support",
    "appdata",
    // `.netrc` on Windows.
    "_netrc",
];

/// Protected prefixes: our configuration files, and private keys as `ssh-keygen` names them.
const CLOSED_STARTS: [&str; 5] = ["agent-spaces.config.", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Protected suffixes: private keys and password stores. Some hold only certificates; their names do not tell.
const CLOSED_ENDS: [&str; 8] = [".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx"];

/// Read-only names: other programs load or run them automatically.
const READ_ONLY: [&str; 8] = [
    // Capability definitions are loaded from this folder.
    "capabilities",
    // Handlers import packages, and package managers run their scripts.
    "node_modules",
    "package.json",
    // Instructions of coding agents.
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
];

/// Folders that can never hold a workspace: version control, keys and tokens.
const CLOSED_TREES: [&str; 11] =
    [".git", ".hg", ".svn", ".jj", ".ssh", ".gnupg", ".password-store", ".aws", ".azure", ".kube", ".docker"];

/// The same for writable workspaces: generated files, and packages of handlers.
const READ_ONLY_TREES: [&str; 2] = [".agent-spaces", "node_modules"];

/// Folders that are not workspaces themselves: programs keep their configuration in them. Subfolders may be, such as a
/// checkout in `.claude/worktrees`.
const CLOSED_FOLDERS: [&str; 15] = [
    ".config",
    ".local",
    ".cache",
    ".claude",
    ".codeium",
    ".codex",
    ".continue",
    ".cursor",
    ".gemini",
    ".github",
    ".husky",
    ".idea",
    ".vscode",
    ".windsurf",
    ".zed",
];

/// Disposable files that systems and people leave in folders.
const DROPPINGS: [&str; 2] = [".ds_store", ".gitkeep"];

/// Prefix of temporary files.
pub const TEMPORARY_START: &str = ".agent-spaces-write-";

/// True if a file system could take this name for a protected one.
pub fn is_protected(name: &str, access: Access) -> bool {
    let name = folded(name);
    name.starts_with(HIDDEN_START)
        || CLOSED.contains(&name.as_str())
        || CLOSED_STARTS.iter().any(|start| name.starts_with(start))
        || CLOSED_ENDS.iter().any(|end| name.ends_with(end))
        || is_short_form(&name)
        || (access == Access::Write && READ_ONLY.contains(&name.as_str()))
}

/// Returns the name in a real path that makes it unusable as a folder for scripts.
pub fn closing_name(folder: &Path, access: Access) -> Option<String> {
    let names: Vec<_> = folder.iter().map(|name| name.to_string_lossy()).collect();
    let last = names.len().saturating_sub(1);
    let is_closing = |index: usize, name: &str| {
        let name = folded(name);
        CLOSED_TREES.contains(&name.as_str())
            || (index == last && CLOSED_FOLDERS.contains(&name.as_str()))
            || (access == Access::Write
                && (READ_ONLY_TREES.contains(&name.as_str()) || (index == last && name == "capabilities")))
    };
    names.iter().enumerate().find(|(index, name)| is_closing(*index, name)).map(|(_, name)| name.clone().into_owned())
}

/// True if a protected name may be deleted with its folder.
pub fn is_dropping(name: &str) -> bool {
    DROPPINGS.contains(&folded(name).as_str()) || is_temporary(name)
}

/// True for the name of a temporary file.
pub fn is_temporary(name: &str) -> bool {
    folded(name).starts_with(TEMPORARY_START)
}

#[cfg(test)]
mod tests {
    use super::{Access, closing_name, is_dropping, is_protected, is_temporary};
    use std::path::Path;

    #[test]
    fn protected_names_match_in_any_equivalent_spelling() {
        for name in [
            ".git",
            ".GIT",
            ".git.",
            ".git. .",
            ".g\u{200c}it",
            "\u{200c}.git",
            "\u{fe0f}.env",
            "\u{ff0e}git",
            "\u{2024}env",
            "GIT~1",
            "git~12",
            "gi7eba~1",
            "CURSOR~1",
            "ENV~1.LOC",
            "...",
            ".agent-spaces",
            "capabilities.lock",
            "CAPABILITIES.LOCK",
            "capab\u{131}l\u{131}ties.lock",
            "CAPABI~1.LOC",
            "MCP.json",
            "agent-spaces.config.json",
            "agent-\u{17f}paces.config.toml",
            "Agent-Spaces.Config.TS",
            "agent-spaces.config.",
            "agent-spaces.config.local.json",
            "\u{ff41}gent-spaces.config.json",
            "\u{212a}ey.PEM",
            "server.\u{212a}EY",
            "server.key. ",
            "id_rsa",
            "ID_RSA.pub",
            "id_ed25519_work",
            "AppData",
            "Application Support",
            "claude_desktop_config.json",
        ] {
            for access in [Access::Read, Access::Write] {
                assert!(is_protected(name, access), "{name:?}");
            }
        }
    }

    #[test]
    fn dotfiles_are_protected() {
        for name in [
            ".env",
            ".env.local",
            ".envrc",
            ".npmrc",
            ".netrc",
            ".pypirc",
            ".ssh",
            ".aws",
            ".gnupg",
            ".docker",
            ".kube",
            ".config",
            ".local",
            ".cache",
            ".bashrc",
            ".zshenv",
            ".gitignore",
            ".gitattributes",
            ".github",
            ".husky",
            ".claude.json",
            ".claude",
            ".cursor",
            ".vscode",
            ".codex",
            ".gemini",
            ".windsurf",
            ".zed",
            ".continue",
            ".idea",
            ".mcp.json",
            ".hg",
            ".svn",
            ".jj",
            ".of-a-program-that-is-not-known-yet",
        ] {
            assert!(is_protected(name, Access::Read) && is_protected(name, Access::Write), "{name}");
        }
    }

    #[test]
    fn files_that_other_programs_load_or_run_are_read_only() {
        for name in
            ["capabilities", "Capabilities", "node_modules", "NODE_MODULES", "package.json", "AGENTS.md", "CLAUDE.md"]
        {
            assert!(!is_protected(name, Access::Read) && is_protected(name, Access::Write), "{name}");
        }
    }

    #[test]
    fn similar_names_are_not_protected() {
        for name in [
            "git",
            "a.git",
            "agent-spaces",
            "agent-spaces.configuration",
            "mcp-json",
            "my-mcp.json",
            "capabilities.lock.md",
            "capabilities.md",
            "annual-report~1.txt",
            "git~",
            "GIT~x",
            "key",
            "pem",
            "monkey",
            "keys.json",
            "environment",
            "a.b",
            "data.json",
            "helper.ts",
            "résumé.txt",
            "re\u{301}sume\u{301}.txt",
            "日本.csv",
            "package.json5",
            "",
        ] {
            assert!(!is_protected(name, Access::Read) && !is_protected(name, Access::Write), "{name:?}");
        }
    }

    #[test]
    fn a_folder_of_configuration_or_credentials_is_not_a_workspace() {
        let closed = |folder: &str| closing_name(Path::new(folder), Access::Read);
        for folder in
            ["/w/.git", "/w/.git/hooks", "/u/.SSH/keys", "/w/.cursor", "/w/.vscode", "/u/.config", "/w/.jj/x/y"]
        {
            assert!(closed(folder).is_some(), "{folder}");
        }
        // Subfolders may be: checkouts and skills of coding agents, temporary folders.
        for folder in ["/w", "/w/.claude/worktrees/a", "/tmp/.tmpa1", "/u/.config/tool/scripts", "/w/capabilities", "/"]
        {
            assert_eq!(closed(folder), None, "{folder}");
        }
        let to_write = |folder: &str| closing_name(Path::new(folder), Access::Write);
        for folder in ["/w/capabilities", "/w/node_modules/a", "/w/.agent-spaces", "/w/.agent-spaces/capabilities/a"] {
            assert!(to_write(folder).is_some(), "{folder}");
        }
        // Generated files may be imported by naming their folder.
        assert_eq!(closed("/w/.agent-spaces/capabilities/a"), None);
        assert!(to_write("/capabilities/w").is_none() && to_write("/w/files").is_none());
    }

    #[test]
    fn temporary_names_match_in_any_case() {
        assert!(is_temporary(".agent-spaces-write-00ff"));
        assert!(is_temporary(".AGENT-SPACES-WRITE-00ff"));
        assert!(!is_temporary("agent-spaces-write-00ff"));
        assert!(is_dropping(".DS_Store") && !is_dropping(".git"));
    }
}
