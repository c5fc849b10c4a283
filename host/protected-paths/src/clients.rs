//! MCP clients: other programs with MCP servers, and the locations of their settings files.

use std::path::{Path, PathBuf};

/// MCP settings files of other programs in a project, relative to its folder.
pub const PROJECT_FILES: [&str; 4] = [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".ai-agent.json"];

/// Program with MCP servers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
}

impl Client {
    /// Names in configuration files.
    pub const NAMES: [(&str, Client); 5] = [
        ("claude-desktop", Client::ClaudeDesktop),
        ("claude-code", Client::ClaudeCode),
        ("cursor", Client::Cursor),
        ("vscode", Client::VsCode),
        ("windsurf", Client::Windsurf),
    ];
}

/// Operating systems with the same file locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// Returns the platform of a name in [`std::env::consts::OS`].
    pub fn of(os: &str) -> Platform {
        match os {
            "macos" => Platform::MacOs,
            "windows" => Platform::Windows,
            _ => Platform::Linux,
        }
    }

    /// Returns the folder of user settings in a home folder.
    fn settings(self, home: &Path) -> PathBuf {
        match self {
            Platform::Linux => home.join(".config"),
            Platform::MacOs => home.join("Library").join("Application Support"),
            Platform::Windows => home.join("AppData").join("Roaming"),
        }
    }
}

/// Returns the default locations of a program's user settings, newer ones first. Each file may be missing.
pub fn well_known(client: Client, home: &Path, platform: Platform) -> Vec<PathBuf> {
    let settings = platform.settings(home);
    match client {
        Client::ClaudeDesktop => vec![settings.join("Claude").join("claude_desktop_config.json")],
        Client::ClaudeCode => vec![home.join(".claude.json")],
        Client::Cursor => vec![home.join(".cursor").join("mcp.json")],
        Client::VsCode => {
            let user = settings.join("Code").join("User");
            vec![user.join("mcp.json"), user.join("settings.json")]
        }
        Client::Windsurf => {
            let codeium = home.join(".codeium");
            vec![codeium.join("windsurf").join("mcp_config.json"), codeium.join("mcp_config.json")]
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::clients::{Client, Platform, well_known};
    use std::path::{Path, PathBuf};

    #[test]
    fn settings_files_are_under_the_home_folder() {
        let home = Path::new("home");
        for (name, client) in Client::NAMES {
            for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
                let files = well_known(client, home, platform);
                assert!(!files.is_empty() && files.iter().all(|file| file.starts_with(home)), "{name}");
            }
        }
        let first = |client, platform| well_known(client, home, platform).swap_remove(0);
        let path = |parts: &[&str]| parts.iter().collect::<PathBuf>();
        assert_eq!(first(Client::ClaudeCode, Platform::Linux), path(&["home", ".claude.json"]));
        assert_eq!(
            first(Client::ClaudeDesktop, Platform::MacOs),
            path(&["home", "Library", "Application Support", "Claude", "claude_desktop_config.json"])
        );
        assert_eq!(
            first(Client::VsCode, Platform::Windows),
            path(&["home", "AppData", "Roaming", "Code", "User", "mcp.json"])
        );
        assert_eq!(first(Client::VsCode, Platform::Linux), path(&["home", ".config", "Code", "User", "mcp.json"]));
    }

    #[test]
    fn operating_systems_map_to_platforms() {
        assert_eq!(Platform::of("linux"), Platform::Linux);
        assert_eq!(Platform::of("macos"), Platform::MacOs);
        assert_eq!(Platform::of("windows"), Platform::Windows);
        assert_eq!(Platform::of("freebsd"), Platform::Linux);
    }
}
