//! Durable execution of a command's run: `run --durable` and `runs resume`.

use super::failure::Failure;
use super::interrupt::Interrupt;
use super::journal::{self, waits};
use super::terminal;
use agent_spaces::durable::{DurableError, DurableReport, DurableRuns, State};
use agent_spaces::journal::{Store, StoreError};
use agent_spaces::project::DurableSettings;
use agent_spaces::{Code, Event, RunError, RunOptions, RunReport};
use capability_gen::shown;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc::unbounded_channel;

/// Durable runs of one command.
pub(super) struct DurableSession {
    runs: DurableRuns,
    settings: DurableSettings,
}

/// State of a durable run after its execution.
pub(super) struct DurableOutcome {
    run: String,
    state: State,
    /// Word for the state.
    status: &'static str,
}

impl DurableSession {
    /// Opens the journal.
    pub(super) fn open(settings: DurableSettings) -> Result<DurableSession, Failure> {
        let store = journal::open(&settings)?;
        Ok(DurableSession { runs: DurableRuns::new(store, settings.runs), settings })
    }

    /// Returns the runs.
    pub(super) fn runs(&self) -> &DurableRuns {
        &self.runs
    }

    /// Returns the store.
    pub(super) fn store(&self) -> &Arc<dyn Store> {
        self.runs.store()
    }

    /// Executes a run and prints its events; then flushes the journal, and removes old runs.
    pub(super) async fn follow<Running: Future<Output = Result<DurableReport, DurableError>>>(
        &self,
        start: impl FnOnce(RunOptions) -> Running,
        options: RunOptions,
        print: impl Fn(&Event),
        interrupt: Option<&Interrupt>,
    ) -> Result<(RunReport, DurableOutcome), Failure> {
        let (sender, mut events) = unbounded_channel();
        if let Some(interrupt) = interrupt {
            interrupt.running(options.cancel.clone());
        }
        let running = start(RunOptions { events: Some(sender), ..options });
        let printing = async {
            while let Some(event) = events.recv().await {
                print(&event);
            }
        };
        let (done, ()) = tokio::join!(running, printing);
        let DurableReport { mut report, mut state } = done?;
        if state == State::Ended
            && let Err(error) = self.stored(&report).await
        {
            state = State::Lost(error);
        }
        self.prune().await;
        if let State::Lost(error) = &state {
            report.outcome = Err(lost(error.clone().into()));
        }
        let status = status(&state, &report);
        let outcome = DurableOutcome { run: report.run_id.to_string(), state, status };
        Ok((report, outcome))
    }

    /// Makes sure that the result of a run is on disk: it was only queued.
    async fn stored(&self, report: &RunReport) -> Result<(), StoreError> {
        self.store().flush().await?;
        match self.store().run(&report.run_id).await? {
            Some(row) if row.status.is_ended() => Ok(()),
            _ => Err(StoreError::Full("the result was not stored: the disk or the journal is full".to_owned())),
        }
    }

    /// Removes ended runs as the settings say.
    async fn prune(&self) {
        if let Err(error) = self.store().prune(self.settings.retention()).await {
            terminal::warn(&format!("old runs could not be removed from the journal: {error}"));
        }
    }
}

/// Returns the error of a run whose journal could not be written.
fn lost(failure: Failure) -> RunError {
    let RunError { message, hint, .. } = failure.error;
    let error = RunError::new(Code::HostJournal, format!("The run stopped, and can be resumed: {message}"));
    RunError { hint, ..error }
}

/// Returns the word for a state.
fn status(state: &State, report: &RunReport) -> &'static str {
    match (state, &report.outcome) {
        (State::Parked(_), _) => "parked",
        (State::Diverged, _) => "diverged",
        (State::Lost(_), _) => "lost",
        (State::Ended, Ok(_)) => "finished",
        (State::Ended, Err(error)) if error.code == Code::RunCancelled => "cancelled",
        (State::Ended, Err(_)) => "failed",
    }
}

impl DurableOutcome {
    /// Adds the state to the JSON object of a run.
    pub(super) fn add_to(&self, object: &mut Value) {
        object["status"] = json!(self.status);
        if let State::Parked(wake) = &self.state {
            object["wake"] = waits(&self.run, &wake.keys, wake.at_ms).1;
        }
    }

    /// Prints what a parked run waits for, and how it goes on. Returns false if it is not parked.
    pub(super) fn show_parked(&self) -> bool {
        let State::Parked(wake) = &self.state else { return false };
        let (lines, _) = waits(&self.run, &wake.keys, wake.at_ms);
        let run = terminal::clean_line(&self.run);
        terminal::note(shown!("{} left memory, and waits", run));
        lines.iter().for_each(|line| terminal::note(shown!("  {}", terminal::clean_line(line))));
        terminal::note(shown!("then continue it: agent-spaces runs resume {}", run));
        true
    }
}
