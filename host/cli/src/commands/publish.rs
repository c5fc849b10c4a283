//! `agent-spaces publish`

use super::failure::Failure;
use super::script_file::ScriptFile;
use super::space_choice::SpaceChoice;
use super::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::project::{Equipment, Publication};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Publish a script as a function that other scripts can call.
///
/// The script's default export is a function of one object; its types become the function's. Each call is a run of its
/// own in the script's space, with that space's grants, policy and limits.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces publish daily.ts --as reports.daily
  agent-spaces publish daily.ts --as reports.daily --space reporting -o capabilities/reports.json")]
pub(super) struct Publish {
    /// The script
    file: PathBuf,

    /// Name of the function
    #[arg(long = "as", value_name = "CAPABILITY.FUNCTION")]
    name: String,

    /// Definition file to write, or to add to [default: capabilities/CAPABILITY.json beside the configuration]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Description of the function [default: its comment]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[command(flatten)]
    choice: SpaceChoice,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Publish {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.publish(), self.json)
    }

    fn publish(&self) -> Result<(Value, Shown), Failure> {
        let (capability, function) = self.names()?;
        let script = ScriptFile::read(&self.file, None)?;
        let engine = folders::engine(true)?;
        let found = self.choice.find(&script, &engine)?;
        let modules = self.choice.modules(&found)?;
        // A script that cannot run is not published.
        let space = script.with_workspace(modules.builder(&engine, &Equipment::default())?)?.build()?;
        let prepared = space.prepare(&script.name, &script.source);
        prepared.map_err(|refused| Failure::refused(refused, &script.name, &script.source))?;
        let folder = self.choice.folder(&found);
        let output =
            self.output.clone().unwrap_or_else(|| folder.join("capabilities").join(format!("{capability}.json")));
        let publication = Publication {
            script: &self.file,
            capability,
            function,
            space: self.choice.space(),
            description: self.description.as_deref(),
        };
        let published = publication.write(&output)?;
        for note in &published.notes {
            terminal::warn(&format!("{}: {}", note.place, note.message));
        }
        let verb = if published.is_replaced { "replaced" } else { "added" };
        let shown = output.display().to_string();
        let value =
            json!({ "ok": true, "function": self.name, "definition": shown, "replaced": published.is_replaced });
        let text = shown!(
            "{} {} in {}; grant it to a space with `\"capabilities\": [\"./{}\"]`\n",
            terminal::clean_line(&self.name),
            verb,
            terminal::clean_line(&shown),
            terminal::clean_line(
                output.strip_prefix(&folder).unwrap_or(&output).to_string_lossy().trim_start_matches("./")
            ),
        );
        Ok((value, text))
    }

    fn names(&self) -> Result<(&str, &str), Failure> {
        let is_name = |text: &str| {
            let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
            text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(is_part) && text.len() <= 64
        };
        match self.name.split_once('.') {
            Some((capability, function)) if is_name(capability) && is_name(function) => Ok((capability, function)),
            _ => {
                let message = format!("--as: `{}` is not the name of a function", self.name);
                Err(Failure::new(
                    Code::ConfigUsage,
                    message,
                    Some("write capability and function, such as `reports.daily`"),
                ))
            }
        }
    }
}
