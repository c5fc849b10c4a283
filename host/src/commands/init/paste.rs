//! What to tell other programs, so that they start this one.

use super::super::failure::Failure;
use super::super::shell_word::shell_word;
use agent_spaces::config::foreign::{Client, Platform, well_known};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// What other programs call this one.
pub(super) const NAME: &str = "agent-spaces";

/// The command line that serves a configuration.
pub(super) struct Paste {
    program: String,
    args: Vec<String>,
    /// Whether the configuration is that of one folder.
    is_here: bool,
}

impl Paste {
    /// For a configuration by its absolute path.
    pub(super) fn new(config: &Path, is_here: bool) -> Result<Paste, Failure> {
        let program = std::env::current_exe();
        let program = program.map_err(|error| Failure::new("host.program", error.to_string(), None))?;
        let text = |path: &Path| {
            let message = || format!("{} is not UTF-8: no other program could be told of it", path.display());
            path.to_str().map(str::to_owned).ok_or_else(|| Failure::new("config.file", message(), None))
        };
        let args = vec!["mcp".to_owned(), "serve".to_owned(), "--config".to_owned(), text(config)?];
        Ok(Paste { program: text(&program)?, args, is_here })
    }

    /// Our entry in another program's file. VS Code wants to be told that it is a process.
    pub(super) fn entry(&self, is_typed: bool) -> Value {
        match is_typed {
            true => json!({ "type": "stdio", "command": self.program, "args": self.args }),
            false => json!({ "command": self.program, "args": self.args }),
        }
    }

    /// The line for a shell that adds us to Claude Code.
    fn claude_line(&self) -> String {
        let scope = if self.is_here { "" } else { "--scope user " };
        let words = [&self.program].into_iter().chain(&self.args).map(|word| shell_word(word));
        format!("claude mcp add {scope}{NAME} -- {}", words.collect::<Vec<_>>().join(" "))
    }

    fn object(&self, is_typed: bool) -> Value {
        let key = if is_typed { "servers" } else { "mcpServers" };
        json!({ key: { NAME: self.entry(is_typed) } })
    }

    /// All of it for people.
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
        let mut text = "\nTell your agents, one of:\n".to_owned();
        let _ = writeln!(text, "\nClaude Code, in a terminal:\n\n{}", indented(&self.claude_line()));
        let _ = writeln!(
            text,
            "\nClaude Desktop ({}), Cursor ({cursor}), Windsurf, or a .mcp.json:\n\n{}",
            place(Client::ClaudeDesktop),
            indented(&format!("{:#}", self.object(false)))
        );
        let _ = writeln!(text, "\nVS Code ({vscode}):\n\n{}", indented(&format!("{:#}", self.object(true))));
        let config = self.args.last().map(|config| shell_word(config)).unwrap_or_default();
        let _ = writeln!(text, "\nTo see whether all of it works:\n\n  agent-spaces doctor --config {config}");
        text
    }

    /// All of it as data.
    pub(super) fn data(&self) -> Value {
        json!({
            "claudeCode": self.claude_line(), "claudeDesktop": self.object(false), "cursor": self.object(false),
            "vscode": self.object(true),
        })
    }
}

/// Lines that stand apart and can be selected.
pub(super) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
