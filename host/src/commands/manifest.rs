//! `agent-spaces manifest`

use super::failure::Failure;
use super::script_file::ScriptFile;
use super::space_choice::SpaceChoice;
use super::{folders, output, terminal};
use agent_spaces::{Limits, Manifest, ManifestFunction};
use agent_spaces_policy::{Decision, FilePolicy, Policy};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Show what a script can reach and what will ask for approval, without running it.
///
/// Nothing is started and nobody is asked. What the list does not have, the script cannot call.
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
        match self.answer() {
            Ok((value, _)) if self.json => output::print_line(&value),
            Ok((_, text)) => output::print(&text),
            Err(failure) => failure.report(self.json),
        }
    }

    fn answer(&self) -> Result<(Value, String), Failure> {
        let script = ScriptFile::read(&self.file, None)?;
        let engine = folders::engine(true)?;
        let found = self.choice.find(&script, &engine)?;
        let modules = self.choice.modules(&found)?;
        let mut space = modules.assemble(&engine)?;
        if let Some(workspace) = script.workspace()? {
            space = space.with_workspace(workspace);
        }
        let program = space.prepare(&script.name, &script.source);
        let program = program.map_err(|refused| Failure::refused(refused, &script.name, &script.source))?;
        let manifest = space.manifest(&program);
        let (policy, limits) = (modules.policy(), self.choice.limits(&found));
        let workspace = modules.workspace().map(|folder| folder.display().to_string());
        let mut value = json!(manifest);
        value["limits"] = json!({
            "timeMs": limits.time.as_millis() as u64, "memoryBytes": limits.memory, "calls": limits.calls, "fuel": limits.fuel,
        });
        if manifest.uses_standard("fs") {
            let FilePolicy { read, write, max_file_bytes, max_total_bytes } = policy.files();
            value["files"] = json!({
                "workspace": workspace, "read": read, "write": write, "maxFileBytes": max_file_bytes,
                "maxTotalBytes": max_total_bytes,
            });
        }
        if manifest.uses_standard("http") {
            let network = policy.network();
            let domains: Vec<String> = network.domains.iter().map(ToString::to_string).collect();
            value["network"] = json!({ "enabled": network.enabled, "domains": domains, "methods": network.methods });
        }
        Ok((value, describe(&manifest, &policy, workspace.as_deref(), &limits)))
    }
}

fn describe(manifest: &Manifest, policy: &Policy, workspace: Option<&str>, limits: &Limits) -> String {
    let mut text = format!("{} can reach\n", terminal::clean_line(&manifest.script));
    if manifest.interfaces.is_empty() {
        text.push_str("  nothing\n");
    }
    for interface in &manifest.interfaces {
        let _ = writeln!(text, "\n  {}", terminal::clean_line(&interface.interface));
        for function in &interface.functions {
            line(&mut text, function);
        }
    }
    if manifest.uses_standard("fs") {
        let files = policy.files();
        let does = match (workspace, files.read, files.write) {
            (None, ..) | (_, false, false) => "nothing".to_owned(),
            (Some(folder), true, true) => format!("reads and writes {folder}"),
            (Some(folder), true, false) => format!("reads {folder}"),
            (Some(folder), false, true) => format!("writes {folder}"),
        };
        let _ = writeln!(text, "\n  files: {}", terminal::clean_line(&does));
    }
    if manifest.uses_standard("http") {
        let network = policy.network();
        let domains: Vec<String> = network.domains.iter().map(ToString::to_string).collect();
        let reaches = match (network.enabled, domains.is_empty(), &network.methods) {
            (false, ..) | (_, true, _) => "nothing".to_owned(),
            (_, _, None) => domains.join(", "),
            (_, _, Some(methods)) => format!("{} of {}", methods.join(", "), domains.join(", ")),
        };
        let _ = writeln!(text, "\n  network: {}", terminal::clean_line(&reaches));
    }
    let memory = bytesize::ByteSize(limits.memory).display().iec_short();
    let time = humantime::format_duration(limits.time);
    let _ = writeln!(text, "\n  limits: {time}, {memory}, {} calls", limits.calls);
    text
}

fn line(text: &mut String, function: &ManifestFunction) {
    let word = match function.decision {
        Decision::Allow => "allowed",
        Decision::Approve => "asks for approval",
        Decision::Deny => "denied",
    };
    let places: Vec<String> =
        function.named_at.iter().map(|place| format!("{}:{}", terminal::clean_line(&place.file), place.line)).collect();
    let places = if places.is_empty() { String::new() } else { format!("  at {}", places.join(", ")) };
    let _ = writeln!(text, "    {:40} {word}{places}", terminal::clean_line(&function.function));
}
