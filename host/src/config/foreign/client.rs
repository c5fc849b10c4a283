//! The programs whose servers can be used, and where each keeps its file.

use std::path::{Path, PathBuf};

/// Files of other programs that a project may hold, relative to its folder.
pub const PROJECT_FILES: [&str; 3] = [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];

/// A program that has MCP servers of its own.
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
    /// What a configuration calls each.
    pub const NAMES: [(&str, Client); 5] = [
        ("claude-desktop", Client::ClaudeDesktop),
        ("claude-code", Client::ClaudeCode),
        ("cursor", Client::Cursor),
        ("vscode", Client::VsCode),
        ("windsurf", Client::Windsurf),
    ];
}

/// A family of systems that keep files in the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and its like.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The platform that a name of [`std::env::consts::OS`] stands for.
    pub fn of(os: &str) -> Platform {
        match os {
            "macos" => Platform::MacOs,
            "windows" => Platform::Windows,
            _ => Platform::Linux,
        }
    }

    /// Where programs keep the settings of a user whose home folder is `home`.
    fn settings(self, home: &Path) -> PathBuf {
        match self {
            Platform::Linux => home.join(".config"),
            Platform::MacOs => home.join("Library").join("Application Support"),
            Platform::Windows => home.join("AppData").join("Roaming"),
        }
    }
}

/// Files in which a program keeps the user's servers, where it is installed as usual. Newer places come first, and
/// each file may be missing.
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
    use super::{Client, Platform, well_known};
    use std::path::{Path, PathBuf};

    #[test]
    fn every_program_has_its_places_under_the_home_folder() {
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
    fn this_system_is_one_of_them() {
        assert_eq!(Platform::of("linux"), Platform::Linux);
        assert_eq!(Platform::of("macos"), Platform::MacOs);
        assert_eq!(Platform::of("windows"), Platform::Windows);
        assert_eq!(Platform::of("freebsd"), Platform::Linux);
    }
}
