//! `agent-spaces replay`

use super::failure::Failure;
use super::journal::OpenJournal;
use super::script_file::ScriptFile;
use super::{folders, output, terminal};
use agent_spaces::durable::compare::{ChangedScript, CompareError, compare};
use agent_spaces::durable::findings::Findings;
use agent_spaces::durable::verify::verify;
use agent_spaces::{Code, PrepareError};
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// Replay a durable run offline: execute it again with its recorded answers, and compare every step.
///
/// No call leaves this machine, and the journal is not changed. With --script, a changed script gets the recorded answers
/// as long as it makes the same calls, in order; it can import the modules that the recorded script imported.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces replay 7f3c
  agent-spaces replay 7f3c --json > events.jsonl
  agent-spaces replay 7f3c --script fixed.ts

Exit status: 0 the same, 1 it differs, 2 bad usage or unknown run, 5 the journal cannot be read.")]
pub(super) struct ReplayCommand {
    /// The run, or the beginning of its id
    run: String,

    /// Changed script to compare with the recorded run
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Print the repeated events as lines of JSON, then one object with the result of the comparison
    #[arg(long)]
    json: bool,
}

impl ReplayCommand {
    pub(super) fn execute(self) -> u8 {
        let replayed = match &self.script {
            None => self.verify(),
            Some(file) => self.compare(file.clone()),
        };
        match replayed {
            Ok(Findings { value, text, is_same }) => {
                let written = if self.json { output::print_line(&value) } else { output::print(&text) };
                written.max(u8::from(!is_same))
            }
            Err(failure) => failure.report(self.json),
        }
    }

    fn verify(&self) -> Result<Findings, Failure> {
        let journal = OpenJournal::open()?;
        let id = journal.find(&self.run)?.id;
        let engine = folders::engine(true)?;
        let replayed = journal.wait(verify(&journal.store, &id, &engine))?;
        if self.json {
            replayed.events.iter().for_each(|event| terminal::data(event.clone()));
        }
        Ok(Findings::of_verification(&id, &replayed))
    }

    fn compare(&self, file: PathBuf) -> Result<Findings, Failure> {
        let script = ScriptFile::read(&file, None)?;
        let workspace = script.workspace()?.map(Arc::new);
        let journal = OpenJournal::open()?;
        let id = journal.find(&self.run)?.id;
        let engine = folders::engine(true)?;
        let changed = ChangedScript { name: &script.name, source: &script.source, workspace };
        let compared = journal.wait(async {
            compare(&journal.store, &id, &engine, changed).await.map_err(|error| match error {
                CompareError::Run(error) => error.into(),
                CompareError::Script(error) => {
                    Failure::refused(PrepareError::Script(error), &script.name, &script.source)
                }
                error => Failure::new(Code::HostJournal, error.to_string(), None),
            })
        })?;
        Ok(Findings::of_comparison(&id, &compared))
    }
}
