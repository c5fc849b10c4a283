//! `agent-spaces manifest`

use super::failure::Failure;
use super::reach::{self, SpaceReach};
use super::script_file::ScriptFile;
use super::space_choice::SpaceChoice;
use super::{folders, output, terminal};
use agent_spaces::Manifest;
use agent_spaces::project::Equipment;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::Value;
use std::path::PathBuf;

/// Show the functions that a script can call and which need approval, without running it.
///
/// Nothing is started and no approval is requested. The script can call only the functions of the list.
#[derive(Args)]
#[command(
    name = "manifest",
    after_help = "Examples:
  agent-spaces manifest triage.ts --space support
  agent-spaces manifest agent.ts --json"
)]
pub(super) struct ManifestCommand {
    /// The script; - reads it from stdin
    file: PathBuf,

    #[command(flatten)]
    choice: SpaceChoice,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl ManifestCommand {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.answer(), self.json)
    }

    fn answer(&self) -> Result<(Value, Shown), Failure> {
        let script = ScriptFile::read(&self.file, None)?;
        let engine = folders::engine(true)?;
        let found = self.choice.find(&script, &engine)?;
        let modules = self.choice.modules(&found)?;
        let space = script.with_workspace(modules.builder(&engine, &Equipment::default())?)?.build()?;
        reach::warn_of_unused_rules(&modules)?;
        let program = space.prepare(&script.name, &script.source);
        let program = program.map_err(|refused| Failure::refused(refused, &script.name, &script.source))?;
        let manifest = space.manifest(&program);
        let reached = SpaceReach::of(&modules, self.choice.limits(&found));
        Ok((reached.manifest_json(&manifest), describe(&manifest, &reached)))
    }
}

fn describe(manifest: &Manifest, reached: &SpaceReach) -> Shown {
    let mut text = shown!("{} can reach\n", terminal::clean_line(&manifest.script));
    if manifest.interfaces.is_empty() {
        text.push("  nothing\n");
    }
    for interface in &manifest.interfaces {
        text.push(shown!("\n  {}\n", terminal::clean_line(&interface.interface)));
        interface.functions.iter().for_each(|function| reach::function(&mut text, "    ", function));
    }
    if manifest.uses_standard("fs") {
        text.push(shown!("\n  {}\n", reached.files()));
    }
    if manifest.uses_standard("http") {
        text.push(shown!("\n  {}\n", reached.network()));
    }
    text.push(shown!("\n  {}\n", reached.limits()));
    text
}
