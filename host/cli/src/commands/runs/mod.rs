//! `agent-spaces runs`: durable runs in the journal.
//!
//! - `list`, `show`, `events`: what the journal has
//! - `resume`, `resume_all`: continuation
//! - `cancel`, `answer`: endings, and calls in doubt
//! - `transfer`, `prune`: export, import and retention

mod answer;
mod cancel;
mod events;
mod list;
mod prune;
mod resume;
mod resume_all;
mod show;
mod transfer;

use clap::{Args, Subcommand};

/// List, show, continue and end durable runs (`agent-spaces run --durable`).
///
/// RUN is the id of a run, or the beginning of it: run_7f3c, or 7f3c.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces runs list --status parked
  agent-spaces runs show 7f3c
  agent-spaces runs resume 7f3c
  agent-spaces runs resume --all --watch
  agent-spaces runs answer 7f3c 3 --happened '{\"id\": 17}'
  agent-spaces runs prune --older-than 30d --max-size 1GB

Exit status: 0 ok, 2 bad usage or unknown run, 5 the journal cannot be read or written.
`resume` has that of `agent-spaces run`.")]
pub(super) struct RunsCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    List(list::List),
    Show(show::Show),
    Events(events::Events),
    Resume(resume::Resume),
    Cancel(cancel::Cancel),
    Answer(answer::Answer),
    Export(transfer::Export),
    Import(transfer::Import),
    Prune(prune::Prune),
}

impl RunsCommand {
    pub(super) fn execute(self) -> u8 {
        match self.verb {
            Verb::List(list) => list.execute(),
            Verb::Show(show) => show.execute(),
            Verb::Events(events) => events.execute(),
            Verb::Resume(resume) => resume.execute(),
            Verb::Cancel(cancel) => cancel.execute(),
            Verb::Answer(answer) => answer.execute(),
            Verb::Export(export) => export.execute(),
            Verb::Import(import) => import.execute(),
            Verb::Prune(prune) => prune.execute(),
        }
    }
}
