//! Configuration snippets for other programs, which start `agent-spaces mcp serve`.

use super::super::failure::Failure;
use super::super::shell_word::shell_word;
use agent_spaces::Code;
use agent_spaces::config::foreign::{Client, Platform, well_known};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Name of our entry in other programs.
pub(super) const NAME: &str = "agent-spaces";

/// Command line of `mcp serve` for a configuration.
pub(super) struct ClientSnippets {
    program: String,
    args: Vec<String>,
    /// True if the configuration belongs to one folder.
    is_here: bool,
}

impl ClientSnippets {
    /// Takes the absolute path of the configuration.
    pub(super) fn new(config: &Path, is_here: bool) -> Result<ClientSnippets, Failure> {
        let program = std::env::current_exe();
        let program = program.map_err(|error| Failure::new(Code::HostProgram, error.to_string(), None))?;
        let text = |path: &Path| {
            let message = || format!("{} is not UTF-8, so no other program can be configured with it", path.display());
            path.to_str().map(str::to_owned).ok_or_else(|| Failure::new(Code::ConfigFile, message(), None))
        };
        let args = vec!["mcp".to_owned(), "serve".to_owned(), "--config".to_owned(), text(config)?];
        Ok(ClientSnippets { program: text(&program)?, args, is_here })
    }

    /// Returns our entry for another program's file. VS Code needs the type (`is_typed`).
    pub(super) fn entry(&self, is_typed: bool) -> Value {
        match is_typed {
            true => json!({ "type": "stdio", "command": self.program, "args": self.args }),
            false => json!({ "command": self.program, "args": self.args }),
        }
    }

    /// Returns the shell command that adds our entry to Claude Code.
    fn claude_line(&self) -> String {
        let scope = if self.is_here { "" } else { "--scope user " };
        let words = [&self.program].into_iter().chain(&self.args).map(|word| shell_word(word));
        format!("claude mcp add {scope}{NAME} -- {}", words.collect::<Vec<_>>().join(" "))
    }

    fn object(&self, is_typed: bool) -> Value {
        let key = if is_typed { "servers" } else { "mcpServers" };
        json!({ key: { NAME: self.entry(is_typed) } })
    }

    /// Returns the snippets as text.
    pub(super) fn text(&self) -> String {
        let place = |client| {
            let home = std::env::home_dir().unwrap_or_default();
            let files = well_known(client, &home, Platform::of(std::env::consts::OS));
            files.first().map(|file| file.display().to_string()).unwrap_or_default()
        };
        let (cursor, vscode) = match self.is_here {
            true => (".cursor/mcp.json".to_owned(), ".vscode/mcp.json".to_owned()),
            false => (place(Client::Cursor), place(Client::VsCode)),
        };
        let mut text = "\nAdd agent-spaces to your agents, one of:\n".to_owned();
        let _ = writeln!(text, "\nClaude Code, in a terminal:\n\n{}", indented(&self.claude_line()));
        let _ = writeln!(
            text,
            "\nClaude Desktop ({}), Cursor ({cursor}), Windsurf, or a .mcp.json:\n\n{}",
            place(Client::ClaudeDesktop),
            indented(&format!("{:#}", self.object(false)))
        );
        let _ = writeln!(text, "\nVS Code ({vscode}):\n\n{}", indented(&format!("{:#}", self.object(true))));
        let config = self.args.last().map(|config| shell_word(config)).unwrap_or_default();
        let _ = writeln!(text, "\nTo check the setup:\n\n  agent-spaces doctor --config {config}");
        text
    }

    /// Returns the snippets as JSON.
    pub(super) fn data(&self) -> Value {
        json!({
            "claudeCode": self.claude_line(), "claudeDesktop": self.object(false), "cursor": self.object(false),
            "vscode": self.object(true),
        })
    }
}

/// Indents every line.
pub(super) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
