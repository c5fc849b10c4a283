//! `agent-spaces runs prune`

use crate::commands::failure::Failure;
use crate::commands::journal::{OpenJournal, now_ms};
use crate::commands::{output, units};
use agent_spaces::journal::{Prune as Retention, Pruned};
use capability_gen::counted::counted;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;

/// Remove ended runs from the journal; unfinished ones are never removed
///
/// Without options, only the size is printed.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces runs prune
  agent-spaces runs prune --older-than 30d
  agent-spaces runs prune --max-size 1GB")]
pub(super) struct Prune {
    /// Remove runs that ended longer ago
    #[arg(long, value_parser = units::age, value_name = "DURATION")]
    older_than: Option<Duration>,

    /// Remove the runs that ended first, until the journal has no more bytes
    #[arg(long, value_parser = units::bytes, value_name = "SIZE")]
    max_size: Option<u64>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Prune {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.prune(), self.json)
    }

    fn prune(&self) -> Result<(Value, Shown), Failure> {
        let journal = OpenJournal::open()?;
        let mut pruned = Pruned::default();
        if self.older_than.is_some() || self.max_size.is_some() {
            let policy = Retention { older_than: self.older_than, max_bytes: self.max_size, now_ms: now_ms() };
            pruned = journal.wait(journal.store.prune(policy))?;
        }
        let size = journal.wait(journal.store.size())?;
        let runs: u64 = size.runs.values().sum();
        let value = json!({ "removed": pruned.runs, "freedBytes": pruned.bytes, "runs": runs, "bytes": size.bytes });
        let text = shown!("{} removed, {} left, {} bytes\n", counted(pruned.runs, "run"), runs, size.bytes);
        Ok((value, text))
    }
}
