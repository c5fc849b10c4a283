//! `agent-spaces runs export` and `agent-spaces runs import`

use crate::commands::failure::Failure;
use crate::commands::journal::OpenJournal;
use crate::commands::{output, terminal};
use agent_spaces::Code;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Print a run with its program and engine as JSON Lines
///
/// Whoever has it can read everything that the run read. Another machine imports it to replay or continue the run.
#[derive(Args)]
#[command(after_help = "Example:\n  agent-spaces runs export 7f3c -o run.jsonl")]
pub(super) struct Export {
    /// The run
    run: String,

    /// File to write, readable by you alone [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) fn execute(self) -> u8 {
        match self.export() {
            Ok((_, document)) if self.output.is_none() => output::print_document(&document),
            Ok((id, document)) => match self.write(&document) {
                Ok(()) => {
                    terminal::note(shown!("{} was exported", terminal::clean_line(&id)));
                    0
                }
                Err(failure) => failure.show(),
            },
            Err(failure) => failure.show(),
        }
    }

    fn export(&self) -> Result<(String, String), Failure> {
        let journal = OpenJournal::open()?;
        let id = journal.find(&self.run)?.id;
        let document = journal.wait(journal.store.export(&id))?;
        Ok((id, document))
    }

    fn write(&self, document: &str) -> Result<(), Failure> {
        let Some(file) = &self.output else { return Ok(()) };
        let failed =
            |error: std::io::Error| Failure::new(Code::ConfigOutput, format!("{}: {error}", file.display()), None);
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A temporary file is private from the start.
        let mut private = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        std::io::Write::write_all(&mut private, document.as_bytes()).map_err(failed)?;
        private.persist(file).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Add an exported run to the journal
///
/// An unfinished one waits until you resume it: it may still go on where it was exported, and calls would be made twice.
#[derive(Args)]
#[command(after_help = "Example:\n  agent-spaces runs import run.jsonl && agent-spaces replay 7f3c")]
pub(super) struct Import {
    /// The file; - reads it from stdin
    file: PathBuf,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Import {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.import(), self.json)
    }

    fn import(&self) -> Result<(Value, Shown), Failure> {
        let document = self
            .read()
            .map_err(|error| Failure::new(Code::ConfigFile, format!("{}: {error}", self.file.display()), None))?;
        let journal = OpenJournal::open()?;
        let id = journal.wait(journal.store.import(&document))?;
        Ok((json!({ "runId": id }), shown!("{} was imported\n", terminal::clean_line(&id))))
    }

    fn read(&self) -> std::io::Result<String> {
        if self.file != Path::new("-") {
            return std::fs::read_to_string(&self.file);
        }
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text)?;
        Ok(text)
    }
}
