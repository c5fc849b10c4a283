//! `agent-spaces init`
//!
//! - `own_config`: our configuration, to which servers are added
//! - `client_snippets`: configuration snippets for other programs, which start this one
//! - `originals`: removal of servers from the files that they were copied from
//! - `show`: output, as text and as JSON

mod client_snippets;
mod originals;
mod own_config;
mod show;

use super::failure::Failure;
use super::foreign_configs::{Entry, Source, SourceScope, State, merge, search};
use super::network_variables::Withheld;
use super::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::trust::Status;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use client_snippets::ClientSnippets;
use originals::Originals;
use own_config::OwnConfig;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Copy the MCP servers of other programs to agent-spaces.
///
/// Finds the servers of Claude Code, Claude Desktop, Cursor, VS Code and Windsurf, copies them to an agent-spaces
/// configuration, and prints the entry with which those programs start `agent-spaces mcp serve` instead. Nothing is
/// started. The files of those programs change only on request, and a backup of each is kept beside it.
///
/// Servers of files that came with this folder (.mcp.json, .cursor/mcp.json, .vscode/mcp.json, .ai-agent.json) are listed,
/// but not copied to the user's own configuration, which needs no acceptance, unless you have accepted them (`agent-spaces
/// trust`) or name their file with --from.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces init --dry-run     # look first
  agent-spaces init
  agent-spaces init --yes --replace
  agent-spaces init --here --from .mcp.json

Exit status: 0 ok, 2 bad usage or configuration, 5 a file cannot be written.")]
pub(super) struct Init {
    /// Write to agent-spaces.config.json of this folder [default: of the user's configuration folder]
    #[arg(long)]
    here: bool,

    /// Copy only the servers of this file; may be repeated [default: all that are found]
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,

    /// Remove the servers from the files that they came from
    #[arg(long)]
    remove_originals: bool,

    /// Like --remove-originals, and add agent-spaces in their place
    #[arg(long)]
    replace: bool,

    /// Show what would change, without writing
    #[arg(long)]
    dry_run: bool,

    /// Write without a prompt; originals stay unless --remove-originals or --replace is given
    #[arg(long)]
    yes: bool,

    /// Print one JSON value, without prompts
    #[arg(long)]
    json: bool,
}

impl Init {
    pub(super) fn execute(self) -> u8 {
        match self.init() {
            Ok((value, status)) if self.json => output::print_line(&value).max(status),
            Ok((_, status)) => status,
            Err(failure) => failure.report(self.json),
        }
    }

    fn init(&self) -> Result<(Value, u8), Failure> {
        let found = search(Path::new("."), &self.from);
        self.check_named(&found.sources)?;
        let mut ours = OwnConfig::open(&self.target()?, self.here)?;
        let may_take = |source: &Source| self.here || is_accepted(source);
        let entries = merge(&found.sources, ours.present(), ours.folder(), may_take);
        let seen = show::found(&found.sources, &entries, ours.present());
        let snippets = ClientSnippets::new(ours.file(), self.here)?;
        if entries.is_empty() {
            self.say(&seen.text);
            self.say(&show::nothing(&found.looked, ours.file()));
            return Ok((json!({ "ok": true, "found": seen.data, "looked": found.looked, "config": null }), 0));
        }
        self.say(&seen.text);
        let new: Vec<&Entry> = entries.iter().filter(|entry| matches!(entry.state, State::New(_))).collect();
        let written = self.write(&mut ours, &new)?;
        self.say(&show::written(&ours, &new, &written, self.here));
        let withheld = Withheld::of(new.iter().map(|entry| (entry.our_name().unwrap_or(&entry.name), &entry.server)));
        if let Some(withheld) = &withheld {
            self.say(&format!("\n{}.\nTo change that, {}\n", withheld.sentence(), withheld.fix()));
        }
        let unset = show::unset_variables(&new);
        if !unset.is_empty() {
            self.say(&show::unset(&unset));
        }
        let mut originals = Originals::of(&found.sources, &entries, &ours, &snippets);
        // With --replace the snippets are already in the files.
        if written != Written::Refused && (!self.replace || originals.is_empty()) {
            self.say(&snippets.text());
        }
        let mut status = 0;
        if !originals.is_empty() && written != Written::Refused {
            let is_replaced = self.choose(&originals)?;
            if let Some(is_replaced) = is_replaced {
                status = originals.change(is_replaced, self.dry_run);
            }
            self.say(&originals.text(is_replaced.is_some(), self.dry_run));
        }
        let value = json!({
            "ok": status == 0, "dryRun": self.dry_run, "found": seen.data,
            "config": show::config(&ours, &new, &written),
            "withheldVariables": withheld.map(|withheld| withheld.variables).unwrap_or_default(),
            "unsetVariables": unset, "paste": snippets.data(), "originals": originals.data(),
        });
        Ok((value, status))
    }

    /// Refuses a file of --from that cannot be read; one that was found may be broken.
    fn check_named(&self, sources: &[Source]) -> Result<(), Failure> {
        for source in sources.iter().filter(|source| source.scope == SourceScope::Named) {
            if let Err(error) = &source.found {
                let message = format!("{}: {error}", source.file.display());
                return Err(Failure::new(Code::ConfigFile, terminal::clean_line(&message), None));
            }
        }
        Ok(())
    }

    /// Returns the folder of our configuration.
    fn target(&self) -> Result<PathBuf, Failure> {
        if self.here {
            return std::path::absolute(".").map_err(|error| Failure::new(Code::HostFolder, error.to_string(), None));
        }
        folders::user_config().ok_or_else(|| {
            let hint = "set HOME or XDG_CONFIG_HOME, or write to this folder with --here";
            Failure::new(Code::ConfigFile, "there is no home folder to write to", Some(hint))
        })
    }

    /// Prints text, unless --json prints the data at the end.
    fn say(&self, text: &str) {
        if !self.json {
            output::print(&Shown::text(text, usize::MAX));
        }
    }

    fn write(&self, ours: &mut OwnConfig, new: &[&Entry]) -> Result<Written, Failure> {
        if new.is_empty() {
            return Ok(Written::Nothing);
        }
        if !ours.is_json() {
            return Ok(Written::ByHand);
        }
        let text = ours.with(new)?;
        if self.dry_run {
            return Ok(Written::Planned);
        }
        let question = format!("Write to {}?", ours.file().display());
        if !self.yes && self.is_asking() && !ask(&question, true) {
            return Ok(Written::Refused);
        }
        ours.write(text, new)?;
        Ok(Written::Done)
    }

    /// Returns `None` if the originals stay, or true if our entry replaces the removed servers.
    fn choose(&self, originals: &Originals) -> Result<Option<bool>, Failure> {
        if self.replace || self.remove_originals {
            return Ok(Some(self.replace));
        }
        if self.dry_run || self.yes || !self.is_asking() {
            return Ok(None);
        }
        terminal::note(terminal::clean(&originals.question()));
        if !ask("Remove them from these files? A backup of each is kept.", false) {
            return Ok(None);
        }
        Ok(Some(ask("Add agent-spaces in their place?", true)))
    }

    fn is_asking(&self) -> bool {
        !self.json && std::io::stdin().is_terminal() && terminal::is_stderr_terminal()
    }
}

/// Result of writing our configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// The servers were added.
    Done,
    /// The servers would be added: --dry-run.
    Planned,
    /// Nothing to add.
    Nothing,
    /// Not JSON, so the user must add them.
    ByHand,
    /// The user declined.
    Refused,
}

/// Returns true if the user accepted a file of a folder in its current form.
fn is_accepted(source: &Source) -> bool {
    let status = folders::trust().status(&source.file, source.text.as_bytes());
    status.is_ok_and(|status| status == Status::Accepted)
}

/// Asks a yes-or-no question. An empty answer is the default.
fn ask(question: &str, default: bool) -> bool {
    let choices = if default { "[Y/n]" } else { "[y/N]" };
    terminal::ask(&shown!("{} {} ", terminal::clean_line(question), choices));
    let mut answer = String::new();
    match std::io::stdin().read_line(&mut answer) {
        // End of input is a no.
        Ok(0) | Err(_) => false,
        Ok(_) => match answer.trim() {
            "" => default,
            "y" | "Y" | "yes" => true,
            _ => false,
        },
    }
}
