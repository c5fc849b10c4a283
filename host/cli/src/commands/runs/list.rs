//! `agent-spaces runs list`

use crate::commands::failure::Failure;
use crate::commands::journal::{OpenJournal, time, waits};
use crate::commands::{output, terminal};
use agent_spaces::durable::details::with_dead_hosts;
use agent_spaces::journal::{Filter, RunRow, Status};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};

/// List durable runs, newest first
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces runs list
  agent-spaces runs list --status parked --status ready --json")]
pub(super) struct List {
    /// Only runs with this status: ready, running, parked, finished, failed, cancelled; may be repeated
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Vec<Status>,

    /// Most runs
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    limit: usize,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

fn status(text: &str) -> Result<Status, String> {
    Status::parse(text).ok_or_else(|| {
        let all: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
        format!("expected one of {}", all.join(", "))
    })
}

impl List {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.list(), self.json)
    }

    fn list(&self) -> Result<(Value, Shown), Failure> {
        let journal = OpenJournal::open()?;
        let filter = Filter { statuses: self.status.clone(), limit: self.limit, ..Filter::default() };
        let rows = journal.wait(journal.store.list(filter))?;
        let dead = journal.wait(with_dead_hosts(&*journal.store, &rows))?;
        let mut text = Shown::default();
        for row in &rows {
            let line = terminal::clean_line;
            let (id, script) = (line(&row.id), line(&row.summary.script));
            let is_dead = dead.contains(&row.id);
            text.push(shown!("{}  {}  {}  {}\n", id, status_of(row, is_dead), line(&time(row.created)), script));
            if is_dead {
                text.push(shown!("  continue it: agent-spaces runs resume {}\n", id));
            }
        }
        if rows.is_empty() {
            text.push("No durable runs.\n");
        }
        Ok((rows.iter().map(|row| json_of(row, dead.contains(&row.id))).collect(), text))
    }
}

/// Returns the status of a run, for people.
pub(super) fn status_of(row: &RunRow, has_dead_host: bool) -> &'static str {
    if has_dead_host { "running (its host died)" } else { row.status.as_str() }
}

/// Returns a run as JSON.
pub(super) fn json_of(row: &RunRow, has_dead_host: bool) -> Value {
    let outcome: Value = row.outcome.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let summary = &row.summary;
    json!({
        "runId": row.id,
        "status": row.status.as_str(),
        "hostDied": has_dead_host,
        "script": summary.script,
        "space": (!summary.space.is_empty()).then_some(&summary.space),
        "caller": (!summary.caller.is_empty()).then_some(&summary.caller),
        "project": summary.project,
        "created": time(row.created),
        "updated": time(row.updated),
        "wake": waits(&row.id, &row.waits_for, row.wake_at).1,
        "bytes": row.bytes,
        "entries": row.next_seq,
        "outcome": outcome,
        "cancelRequested": row.cancel_requested,
    })
}
