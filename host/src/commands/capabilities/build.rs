//! `agent-spaces capabilities build`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, output, terminal};
use agent_spaces::project::{BuildReport, build};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Compile definitions into bundles: WIT, TypeScript declarations, JavaScript and schemas.
///
/// MCP servers whose tools are not in capabilities.lock yet are started and asked for them. Writes
/// `.agent-spaces/capabilities/<module>/` and what `tsc` and editors need to resolve the modules. A
/// second build without a change writes nothing.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces capabilities build
  agent-spaces capabilities build tools/weather.json tools/github-openapi.json
  agent-spaces capabilities build --json | jq .modules

Exit status: 0 ok, 2 a definition or the configuration is wrong.")]
pub(super) struct Build {
    #[command(flatten)]
    sources: Sources,

    /// The folder that `.agent-spaces` is written in [default: that of the configuration, or this one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print what was built as one JSON object
    #[arg(long)]
    json: bool,
}

impl Build {
    pub(super) fn execute(self) -> u8 {
        match self.build() {
            Ok(report) if self.json => {
                let BuildReport { modules, written, removed, notes, .. } = &report;
                let line =
                    json!({ "ok": true, "modules": modules, "written": written, "removed": removed, "notes": notes });
                output::print_line(&line)
            }
            Ok(report) => output::print(&describe(&report)),
            Err(failure) => failure.report(self.json),
        }
    }

    fn build(&self) -> Result<BuildReport, Failure> {
        let engine = folders::engine(true)?;
        self.sources.discover(&engine)?;
        let bar = folders::spin("Compiling capabilities");
        let (folder, definitions) = self.sources.load(&engine)?;
        let folder = self.out.clone().unwrap_or(folder);
        let report = build(&folder, &definitions, self.sources.scope(), |module| {
            bar.say(shown!("Compiling {}", terminal::clean_line(module)))
        })?;
        bar.finish_and_clear();
        Ok(report)
    }
}

/// Warnings that a person reads.
const MAX_NOTES: usize = 50;

fn describe(report: &BuildReport) -> Shown {
    let mut text = Shown::default();
    for module in &report.modules {
        let functions = if module.functions == 1 { "function" } else { "functions" };
        let (specifier, source) = (terminal::clean_line(&module.specifier), terminal::clean_line(&module.source));
        text.push(shown!("{}  {} {}  from {}\n", specifier, module.functions, functions, source));
    }
    for note in report.notes.iter().take(MAX_NOTES) {
        terminal::warn(&format!("{}: {}", note.place, note.message));
    }
    if report.notes.len() > MAX_NOTES {
        terminal::warn(&format!("{} more like these: see --json", report.notes.len() - MAX_NOTES));
    }
    let count = |count: usize, noun: &'static str| shown!("{} {}{}", count, noun, if count == 1 { "" } else { "s" });
    let modules = count(report.modules.len(), "module");
    text.push(match (report.written.len(), report.removed.len()) {
        (0, 0) => shown!("{}, nothing to do\n", modules),
        (written, 0) => shown!("{}, {} written\n", modules, count(written, "file")),
        (written, removed) => shown!("{}, {} written, {} removed\n", modules, count(written, "file"), removed),
    });
    text
}
