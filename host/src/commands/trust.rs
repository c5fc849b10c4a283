//! `agent-spaces trust`

use super::failure::Failure;
use super::{folders, output, terminal};
use agent_spaces::config::foreign::{self, MAX_BYTES};
use agent_spaces::project::{Project, find, find_foreign, foreign_files};
use agent_spaces::trust::{Accepted, Status, Trust, TrustError, waiting};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Accept a project's configuration, so that it may start MCP servers and use variables.
///
/// A file counts as accepted until it changes. Without a file: the configuration that is used here, and the files
/// beside it that other programs read: .mcp.json, .cursor/mcp.json, .vscode/mcp.json.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces trust              # the files of this folder
  agent-spaces trust .mcp.json
  agent-spaces trust --list
  agent-spaces trust --revoke .mcp.json")]
pub(super) struct TrustCommand {
    /// The files to accept
    files: Vec<PathBuf>,

    /// Show what was accepted
    #[arg(long, conflicts_with_all = ["files", "revoke"])]
    list: bool,

    /// Take acceptance back
    #[arg(long)]
    revoke: bool,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl TrustCommand {
    pub(super) fn execute(self) -> u8 {
        match self.answer() {
            Ok((value, _)) if self.json => output::print_line(&value),
            Ok((_, text)) => output::print(&text),
            Err(failure) => failure.report(self.json),
        }
    }

    fn answer(&self) -> Result<(Value, String), Failure> {
        let trust = folders::trust();
        if self.list {
            return Ok(describe(&trust.list().map_err(failed)?));
        }
        let files = if self.files.is_empty() { here()? } else { self.files.clone() };
        let (mut values, mut text) = (Vec::new(), String::new());
        for file in &files {
            let state = if self.revoke { revoke(&trust, file)? } else { accept(&trust, file)? };
            let _ = writeln!(text, "{}  {state}", terminal::clean_line(&file.display().to_string()));
            values.push(json!({ "file": file, "state": state }));
        }
        Ok((Value::Array(values), text))
    }
}

fn accept(trust: &Trust, file: &Path) -> Result<&'static str, Failure> {
    let fail = |message: String| Failure::new("config.file", format!("{}: {message}", file.display()), None);
    if !file.is_file() {
        return Err(fail("there is no such file".into()));
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| fail(error.to_string()))?;
    let read = opened.take(MAX_BYTES as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| fail(error.to_string()))?;
    // Programs in TypeScript show what they start when they are used.
    if let Ok(found) = foreign::read(&file.display().to_string(), &text)
        && !found.servers.is_empty()
    {
        terminal::note(&format!("{} may now use:\n{}", file.display(), waiting(&found.servers)));
    }
    trust.accept(file, text.as_bytes()).map_err(failed)?;
    Ok("accepted")
}

fn revoke(trust: &Trust, file: &Path) -> Result<&'static str, Failure> {
    Ok(if trust.revoke(file).map_err(failed)? { "no longer accepted" } else { "was not accepted" })
}

/// The files of this folder that could start something.
fn here() -> Result<Vec<PathBuf>, Failure> {
    let here = Path::new(".");
    let config = find(here, None)?;
    let folder = match &config {
        Some(file) => file.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_owned),
        None => find_foreign(here)?,
    };
    let files: Vec<PathBuf> = config.into_iter().chain(foreign_files(folder.as_deref().unwrap_or(here))).collect();
    match files.is_empty() {
        false => Ok(files),
        true => Err(Failure::new("config.file", "there is nothing to accept here", Some("name a file"))),
    }
}

fn failed(error: TrustError) -> Failure {
    Failure::new("host.trust", error.to_string(), None)
}

fn describe(accepted: &[Accepted]) -> (Value, String) {
    let mut text = String::new();
    for file in accepted {
        let _ = writeln!(
            text,
            "{}  since {}",
            terminal::clean_line(&file.path.display().to_string()),
            humantime::format_rfc3339_seconds(file.when)
        );
    }
    let values = accepted.iter().map(|file| json!({ "file": file.path, "sha256": file.sha256, "when": humantime::format_rfc3339_seconds(file.when).to_string() }));
    (Value::Array(values.collect()), text)
}

/// On a terminal, asks whether files that wait for acceptance are accepted; gives whether any was.
pub(super) fn ask(project: &Project) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() || !terminal::is_watched() {
        return Ok(false);
    }
    let trust = folders::trust();
    let mut asked: Vec<&Path> = Vec::new();
    let mut is_new = false;
    for server in project.servers().values().filter(|server| server.config.enabled) {
        let acceptance = &server.acceptance;
        if acceptance.status == Status::Accepted || asked.contains(&acceptance.file.as_path()) {
            continue;
        }
        asked.push(&acceptance.file);
        let of_file = project.servers().values().filter(|server| server.acceptance.file == acceptance.file);
        let servers = of_file.map(|server| (server.name.clone(), server.config.clone())).collect();
        terminal::note(&format!("{} wants to use:\n{}", acceptance.file.display(), waiting(&servers)));
        let _ = write!(std::io::stderr(), "Accept this file, with all that it says? [y/N] ");
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer);
        if read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes") {
            // What was shown, not what the file may hold by now.
            trust.accept(&acceptance.file, acceptance.text.as_bytes()).map_err(failed)?;
            is_new = true;
        }
    }
    Ok(is_new)
}
