//! `agent-spaces runs cancel`

use crate::commands::failure::Failure;
use crate::commands::journal::OpenJournal;
use crate::commands::{output, terminal};
use agent_spaces::durable::control::{Cancelled, cancel};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};

/// End a run
///
/// A run that waits ends at once. One that another process executes is ended by that process, within seconds.
#[derive(Args)]
#[command(after_help = "Example:\n  agent-spaces runs cancel 7f3c")]
pub(super) struct Cancel {
    /// The run
    run: String,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Cancel {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.cancel(), self.json)
    }

    fn cancel(&self) -> Result<(Value, Shown), Failure> {
        let journal = OpenJournal::open()?;
        let id = journal.find(&self.run)?.id;
        let (word, sentence) = match journal.wait(cancel(&*journal.store, &id))? {
            Cancelled::Ended => ("cancelled", "cancelled"),
            Cancelled::Requested => ("requested", "will be cancelled by the process that executes it"),
            Cancelled::Before => ("ended", "had ended before"),
        };
        Ok((json!({ "runId": id, "status": word }), shown!("{}  {}\n", terminal::clean_line(&id), sentence)))
    }
}
