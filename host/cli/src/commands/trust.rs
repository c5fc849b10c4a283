//! `agent-spaces trust`

use super::failure::Failure;
use super::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::config::foreign::{self, MAX_BYTES};
use agent_spaces::project::summary::{opens, opens_models, waiting, waiting_commands};
use agent_spaces::project::{Project, commands_in, definitions_at, find, find_foreign, foreign_files, read_config};
use agent_spaces::trust::{Acceptance, Accepted, Status, Trust, TrustError};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::io::{IsTerminal, Read as _};
use std::path::{Path, PathBuf};

/// Accept a project's files, so that they may start MCP servers and programs and use variables.
///
/// A file counts as accepted until it changes. Without a file: the configuration that is used here, the files
/// beside it that other programs read (.mcp.json, .cursor/mcp.json, .vscode/mcp.json, .ai-agent.json), and the
/// definitions that name programs to start.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces trust              # the files of this folder
  agent-spaces trust .mcp.json
  agent-spaces trust --list
  agent-spaces trust --revoke .mcp.json")]
pub(super) struct TrustCommand {
    /// The files to accept
    files: Vec<PathBuf>,

    /// List the accepted files
    #[arg(long, conflicts_with_all = ["files", "revoke"])]
    list: bool,

    /// Revoke acceptance
    #[arg(long)]
    revoke: bool,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl TrustCommand {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.answer(), self.json)
    }

    fn answer(&self) -> Result<(Value, Shown), Failure> {
        let trust = folders::trust();
        if self.list {
            return Ok(describe(&trust.list().map_err(failed)?));
        }
        let (mut values, mut text) = (Vec::new(), Shown::default());
        let mut settle = |files: &[PathBuf]| -> Result<(), Failure> {
            for file in files {
                let state = if self.revoke { revoke(&trust, file)? } else { accept(&trust, file)? };
                text.push(shown!("{}  {}\n", terminal::clean_path(file), state));
                values.push(json!({ "file": file, "state": state }));
            }
            Ok(())
        };
        if !self.files.is_empty() {
            settle(&self.files)?;
        } else if self.revoke {
            settle(&accepted_here(&trust)?)?;
        } else {
            settle(&here()?)?;
            // The configuration must be accepted first: an unaccepted one cannot be opened in full.
            settle(&definitions_here()?)?;
        }
        match values.is_empty() {
            true => Err(Failure::new(Code::ConfigFile, "there is nothing to accept here", Some("name a file"))),
            false => Ok((Value::Array(values), text)),
        }
    }
}

/// Reads a file of limited size.
fn read(file: &Path) -> Result<String, Failure> {
    let fail = |message: String| Failure::new(Code::ConfigFile, format!("{}: {message}", file.display()), None);
    if !file.is_file() {
        return Err(fail("there is no such file".into()));
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| fail(error.to_string()))?;
    let read = opened.take(MAX_BYTES as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| fail(error.to_string()))?;
    Ok(text)
}

fn accept(trust: &Trust, file: &Path) -> Result<&'static str, Failure> {
    let text = read(file)?;
    let (uses, opened) = said_by(file, &text)?;
    if !uses.is_empty() {
        terminal::note(shown!("{} may now use:\n{}", terminal::clean_path(file), whole(&uses)));
    }
    if !opened.is_empty() {
        terminal::note(shown!("{} now grants:\n{}", terminal::clean_path(file), lines(&opened)));
    }
    if let Some(commands) = commands_in(file, &text) {
        let started = whole(&waiting_commands(&commands.list));
        terminal::note(shown!("{} may now start:\n{}", terminal::clean_path(file), started));
    }
    trust.accept(file, text.as_bytes()).map_err(failed)?;
    Ok("accepted")
}

/// Returns the servers and the access that a file configures: an agent-spaces configuration, or one of another program.
/// Other files configure nothing.
fn said_by(file: &Path, text: &str) -> Result<(String, Vec<String>), Failure> {
    let is_ai_agent = file.file_name().is_some_and(|name| name == foreign::AI_AGENT_FILE);
    if !is_ai_agent && let Ok(config) = read_config(file, &folders::engine(true)?, &folders::surroundings()) {
        return Ok((waiting(&config.mcp_servers), opens(&config)));
    }
    let shown = file.display().to_string();
    let servers = foreign::read(&shown, text).map(|found| waiting(&found.servers)).unwrap_or_default();
    let models = match is_ai_agent {
        true => foreign::read_ai_agent(&shown, text).map(|found| opens_models(&found.models)).unwrap_or_default(),
        false => Vec::new(),
    };
    Ok((servers, models))
}

fn lines(lines: &[String]) -> Shown {
    lines.iter().map(|line| shown!("{}\n", Shown::line(line, usize::MAX))).collect()
}

/// Sanitizes text without cutting it: whoever accepts a file must see everything that it would start. Its producers
/// bound the length.
fn whole(text: &str) -> Shown {
    Shown::text(text, usize::MAX)
}

fn revoke(trust: &Trust, file: &Path) -> Result<&'static str, Failure> {
    Ok(if trust.revoke(file).map_err(failed)? { "no longer accepted" } else { "was not accepted" })
}

/// Returns the files of this folder that could start something.
fn here() -> Result<Vec<PathBuf>, Failure> {
    let (here, home) = (Path::new("."), std::env::home_dir());
    let config = find(here, None)?;
    let folder = match &config {
        Some(file) => file.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_owned),
        None => find_foreign(here, home.as_deref())?,
    };
    let files = foreign_files(folder.as_deref().unwrap_or(here), home.as_deref());
    Ok(config.into_iter().chain(files).collect())
}

/// Returns the accepted files in and below this folder. They need not be readable: acceptance may be revoked because a
/// file is broken.
fn accepted_here(trust: &Trust) -> Result<Vec<PathBuf>, Failure> {
    let files = here()?;
    let folder = match files.first().and_then(|file| file.parent()).filter(|parent| !parent.as_os_str().is_empty()) {
        Some(folder) => folder.to_owned(),
        None => PathBuf::from("."),
    };
    let folder = folder.canonicalize().unwrap_or(folder);
    let accepted = trust.list().map_err(failed)?.into_iter().map(|accepted| accepted.path);
    let is_new = |file: &PathBuf| !files.iter().any(|known| known.canonicalize().is_ok_and(|known| known == *file));
    let below: Vec<PathBuf> = accepted.filter(|file| file.starts_with(&folder)).filter(is_new).collect();
    Ok([files, below].concat())
}

/// Returns the definitions of this folder that start programs.
fn definitions_here() -> Result<Vec<PathBuf>, Failure> {
    let surroundings = folders::surroundings();
    let beside = Path::new("capabilities");
    let found = match find(Path::new("."), None)? {
        Some(config) => {
            let project = Project::open_in(&config, &folders::engine(true)?, &surroundings);
            project.map(|project| project.definitions().to_vec())
        }
        None if beside.is_dir() => definitions_at(beside, &surroundings.outlines),
        None => return Ok(Vec::new()),
    };
    match found {
        Ok(definitions) => {
            let commands = definitions.into_iter().filter_map(|definition| definition.commands);
            Ok(commands.map(|commands| commands.acceptance.file).collect())
        }
        // A definition that cannot be read starts nothing, and the other files can still be accepted.
        Err(error) => {
            terminal::warn(&error.to_string());
            Ok(Vec::new())
        }
    }
}

fn failed(error: TrustError) -> Failure {
    Failure::new(Code::HostTrust, error.to_string(), None)
}

fn describe(accepted: &[Accepted]) -> (Value, Shown) {
    let mut text = Shown::default();
    for file in accepted {
        let when = terminal::clean_line(&humantime::format_rfc3339_seconds(file.when).to_string());
        text.push(shown!("{}  since {}\n", terminal::clean_path(&file.path), when));
    }
    let values = accepted.iter().map(|file| json!({ "file": file.path, "sha256": file.sha256, "when": humantime::format_rfc3339_seconds(file.when).to_string() }));
    (Value::Array(values.collect()), text)
}

/// On a terminal, asks the user to accept one file. Returns true if it was accepted.
pub(super) fn ask_for_file(file: &Path) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() || !terminal::is_stderr_terminal() {
        return Ok(false);
    }
    let text = read(file)?;
    let (uses, opened) = said_by(file, &text)?;
    terminal::note(shown!("{} wants to use:\n{}{}", terminal::clean_path(file), whole(&uses), lines(&opened)));
    let acceptance = Acceptance { file: file.to_owned(), text: text.into(), status: Status::New };
    ask_about(&acceptance, &folders::trust())
}

/// On a terminal, asks the user to accept the project's files. Returns true if one was accepted.
pub(super) fn ask(project: &Project) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() || !terminal::is_stderr_terminal() {
        return Ok(false);
    }
    let trust = folders::trust();
    let opened = opens(project.config());
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
        terminal::note(shown!(
            "{} wants to use:\n{}",
            terminal::clean_path(&acceptance.file),
            whole(&waiting(&servers))
        ));
        if project.acceptance().is_some_and(|config| config.file == acceptance.file) && !opened.is_empty() {
            terminal::note(shown!("and to grant:\n{}", lines(&opened)));
        }
        is_new |= ask_about(acceptance, &trust)?;
    }
    if let Some(acceptance) = project.acceptance()
        && acceptance.status != Status::Accepted
        && !opened.is_empty()
        && !asked.contains(&acceptance.file.as_path())
    {
        terminal::note(shown!("{} wants to grant:\n{}", terminal::clean_path(&acceptance.file), lines(&opened)));
        is_new |= ask_about(acceptance, &trust)?;
    }
    for commands in project.definitions().iter().filter_map(|definition| definition.commands.as_ref()) {
        let acceptance = &commands.acceptance;
        if acceptance.status != Status::Accepted {
            let started = whole(&waiting_commands(&commands.list));
            terminal::note(shown!("{} wants to start:\n{}", terminal::clean_path(&acceptance.file), started));
            is_new |= ask_about(acceptance, &trust)?;
        }
    }
    Ok(is_new)
}

/// Asks the user to accept a file whose contents were shown. Returns true if it was accepted.
fn ask_about(acceptance: &Acceptance, trust: &Trust) -> Result<bool, Failure> {
    terminal::ask(&"Accept this file with all its contents? [y/N] ".into());
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    let is_accepted = read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes");
    if is_accepted {
        // Accepts the text that was shown: the file may have changed since.
        trust.accept(&acceptance.file, acceptance.text.as_bytes()).map_err(failed)?;
    }
    Ok(is_accepted)
}
