//! `agent-spaces capabilities build`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, output, spinner, terminal};
use agent_spaces::project::{BuildReport, build};
use capability_gen::counted::counted;
use capability_gen::definition::Note;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;

/// Compile definitions into bundles: WIT, TypeScript declarations, JavaScript and schemas.
///
/// Starts MCP servers whose tools are not in capabilities.lock yet, to list them. Writes
/// `.agent-spaces/capabilities/<module>/` and the files that `tsc` and editors need to resolve the modules.
/// Unchanged files are not rewritten. Warns about faulty handlers: syntax errors, unresolved imports,
/// functions without a handler.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces capabilities build
  agent-spaces capabilities build tools/weather.json tools/github-openapi.json
  agent-spaces capabilities build --json | jq .modules

Exit status: 0 ok, 2 a definition or the configuration is invalid.")]
pub(super) struct Build {
    #[command(flatten)]
    sources: Sources,

    /// Folder to write `.agent-spaces` to [default: that of the configuration, or the current one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print the messages exchanged with MCP servers to stderr
    #[arg(long)]
    trace_mcp: bool,

    /// Print the result as one JSON object
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
        self.sources.discover(&engine, self.trace_mcp)?;
        let bar = spinner::spin("Compiling capabilities");
        let (folder, definitions) = self.sources.load(&engine)?;
        let folder = self.out.clone().unwrap_or(folder);
        let mut report = build(&folder, &definitions, self.sources.scope(), |module| {
            bar.set_message(shown!("Compiling {}", terminal::clean_line(module)))
        })?;
        // Bundles need no handlers, so faulty handlers do not fail the build.
        for definition in &definitions {
            report.notes.extend(definition.handler_faults(&engine)?);
        }
        bar.finish_and_clear();
        Ok(report)
    }
}

/// Maximum number of printed warnings.
const MAX_NOTES: usize = 50;

/// Prints each distinct warning once: the same one may apply to sixty parameters.
fn warn_of(notes: &[Note]) {
    let mut by_message: Vec<(&str, &Note, usize)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for note in notes {
        match known.get(note.message.as_str()) {
            Some(at) => by_message[*at].2 += 1,
            None => {
                known.insert(&note.message, by_message.len());
                by_message.push((&note.message, note, 1));
            }
        }
    }
    for (message, first, count) in by_message.iter().take(MAX_NOTES) {
        match count {
            1 => terminal::warn(&format!("{}: {message}", first.place)),
            count => {
                let more = counted(count - 1, "more place");
                terminal::warn(&format!("{}: {message} (and at {more}: see --json)", first.place));
            }
        }
    }
    if let Some(more) = by_message.len().checked_sub(MAX_NOTES).filter(|more| *more > 0) {
        terminal::warn(&format!("{} of other kinds: see --json", counted(more, "more warning")));
    }
}

fn describe(report: &BuildReport) -> Shown {
    let mut text = Shown::default();
    for module in &report.modules {
        let functions = counted(module.functions, "function");
        let (specifier, source) = (terminal::clean_line(&module.specifier), terminal::clean_line(&module.source));
        text.push(shown!("{}  {}  from {}\n", specifier, functions, source));
    }
    warn_of(&report.notes);
    let modules = counted(report.modules.len(), "module");
    text.push(match (report.written.len(), report.removed.len()) {
        (0, 0) => shown!("{}, up to date\n", modules),
        (written, 0) => shown!("{}, {} written\n", modules, counted(written, "file")),
        (written, removed) => shown!("{}, {} written, {} removed\n", modules, counted(written, "file"), removed),
    });
    text
}
