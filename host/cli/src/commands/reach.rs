//! Files, network, limits and functions of a space, as text and as JSON.

use super::terminal;
use agent_spaces::project::{self, ProjectError, SpaceModules};
use agent_spaces::{Limits, Manifest, ManifestFunction};
use agent_spaces_policy::{Decision, FilePolicy};
use capability_gen::counted::counted;
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::Value;

/// Warns about policy rules that match no function: a typo in a deny rule would allow the call.
pub(super) fn warn_of_unused_rules(modules: &SpaceModules<'_>) -> Result<(), ProjectError> {
    modules.unused_rules(&modules.policy())?.iter().for_each(|unused| terminal::warn(&unused.to_string()));
    Ok(())
}

/// Files, network and limits of a space, with lines of text about them.
pub(super) struct SpaceReach(project::SpaceReach);

impl SpaceReach {
    /// Collects them.
    pub(super) fn of(modules: &SpaceModules<'_>, limits: Limits) -> SpaceReach {
        SpaceReach(project::SpaceReach::of(modules, limits))
    }

    /// Returns the line about files.
    pub(super) fn files(&self) -> Shown {
        let FilePolicy { read, write, max_file_bytes, max_total_bytes } = *self.0.policy().files();
        let does = match (read, write) {
            (true, true) => "reads and writes",
            (true, false) => "reads",
            (false, true) => "writes",
            (false, false) => "",
        };
        let (Some(folder), false) = (self.0.workspace(), does.is_empty()) else { return "files: nothing".into() };
        let total = bytes(max_total_bytes);
        terminal::clean_line(&format!(
            "files: {does} {folder}, at most {} each and {total} in all",
            bytes(max_file_bytes)
        ))
    }

    /// Returns the files as JSON.
    pub(super) fn files_json(&self) -> Value {
        self.0.files_json()
    }

    /// Returns the line about the network.
    pub(super) fn network(&self) -> Shown {
        let network = self.0.policy().network();
        let domains: Vec<String> = network.domains.iter().map(ToString::to_string).collect();
        let reaches = match (network.enabled, domains.is_empty(), &network.methods) {
            (false, ..) | (_, true, _) => "nothing".to_owned(),
            (_, _, None) => domains.join(", "),
            (_, _, Some(methods)) => format!("{} of {}", methods.join(", "), domains.join(", ")),
        };
        terminal::clean_line(&format!("network: {reaches}"))
    }

    /// Returns the network as JSON.
    pub(super) fn network_json(&self) -> Value {
        self.0.network_json()
    }

    /// Returns the line about limits.
    pub(super) fn limits(&self) -> Shown {
        let Limits { time, memory, calls, fuel, .. } = *self.0.limits();
        let time = terminal::clean_line(&humantime::format_duration(time).to_string());
        let memory = terminal::clean_line(&bytes(memory));
        shown!("limits: {}, {}, {}, {} of fuel", time, memory, counted(calls, "call"), counted(fuel, "unit"))
    }

    /// Returns the limits as JSON.
    pub(super) fn limits_json(&self) -> Value {
        self.0.limits_json()
    }

    /// Returns the manifest of a script as JSON.
    pub(super) fn manifest_json(&self, manifest: &Manifest) -> Value {
        self.0.manifest_json(manifest)
    }
}

/// Writes a line with the decision about a function, and one for each further term.
pub(super) fn function(text: &mut Shown, indent: &'static str, function: &ManifestFunction) {
    let word = match function.decision {
        Decision::Allow => "allowed",
        Decision::Approve => "asks for approval",
        Decision::Deny => "denied",
    };
    text.push(shown!("{}{:40} {}", indent, terminal::clean_line(&function.function), word));
    for (index, place) in function.named_at.iter().enumerate() {
        let before = if index == 0 { "  at " } else { ", " };
        text.push(shown!("{}{}:{}", before, terminal::clean_line(&place.file), place.line));
    }
    text.push("\n");
    for term in &function.terms {
        text.push(shown!("{}  {}\n", indent, terminal::clean_line(term)));
    }
}

fn bytes(count: u64) -> String {
    bytesize::ByteSize(count).display().iec_short().to_string()
}
