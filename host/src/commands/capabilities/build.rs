//! `agent-spaces capabilities build`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, terminal};
use agent_spaces::project::{BuildReport, build};
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Compile definitions into bundles: WIT, TypeScript declarations, JavaScript and schemas.
///
/// Writes `.agent-spaces/capabilities/<module>/` and what `tsc` and editors need to resolve the modules. A
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
                let BuildReport { modules, written, notes, .. } = &report;
                let line = json!({ "ok": true, "modules": modules, "written": written, "notes": notes });
                let _ = writeln!(std::io::stdout(), "{line}");
                0
            }
            Ok(report) => {
                show(&report);
                0
            }
            Err(failure) => failure.report(self.json),
        }
    }

    fn build(&self) -> Result<BuildReport, Failure> {
        let engine = folders::engine(true)?;
        let bar = folders::spin("Compiling capabilities");
        let (folder, definitions) = self.sources.load(&engine)?;
        let folder = self.out.clone().unwrap_or(folder);
        let report = build(&folder, &definitions, |module| bar.set_message(format!("Compiling {module}")))?;
        bar.finish_and_clear();
        Ok(report)
    }
}

fn show(report: &BuildReport) {
    let mut out = std::io::stdout().lock();
    for module in &report.modules {
        let functions = if module.functions == 1 { "function" } else { "functions" };
        let (specifier, source) = (terminal::clean(&module.specifier), terminal::clean(&module.source));
        let _ = writeln!(out, "{specifier}  {} {functions}  from {source}", module.functions);
    }
    for note in &report.notes {
        terminal::warn(&format!("{}: {}", note.place, note.message));
    }
    let modules = match report.modules.len() {
        1 => "1 module".to_owned(),
        count => format!("{count} modules"),
    };
    let _ = match report.written.len() {
        0 => writeln!(out, "{modules}, nothing to do"),
        1 => writeln!(out, "{modules}, 1 file written"),
        count => writeln!(out, "{modules}, {count} files written"),
    };
}
