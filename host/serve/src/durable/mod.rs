//! Durable runs of the served space: their handles outlive the client, its session and this process.
//!
//! - `found`: a run of the journal, as its caller may see it

mod found;

pub(crate) use found::FoundRun;

use agent_spaces_approvals::Request;
use agent_spaces_durable::details::header;
use agent_spaces_durable::header::Header;
use agent_spaces_durable::{DurableError, DurableReport, DurableRuns, RunInfo, Spaces, WorkerSettings};
use agent_spaces_http_server::Client;
use agent_spaces_journal::{ApprovalFilter, RunRow, Store};
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_space::space::Space;
use agent_spaces_types::caller::Caller;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of approval requests that are known to have been reported. When it is reached, all of them are
/// reported once more.
const MAX_REPORTED: usize = 10_000;

/// Maximum number of approval requests that are read of one run.
const MAX_APPROVALS: usize = 1_000;

/// Durable runs of the served space. Clones share state.
#[derive(Clone)]
pub struct DurableSpace(Arc<Inner>);

struct Inner {
    runs: DurableRuns,
    /// Folder of the project.
    project: String,
    /// Name of the space.
    space: Option<String>,
    /// Configuration file of the project: another one may have other rules.
    config: String,
    /// Ids of the approval requests of runs outside of memory that agents know of.
    reported: Mutex<HashSet<String>>,
}

/// Facts about a run that only the server that continues it needs. They are in its journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunOrigin {
    /// Identity of the client that started it, and may see it: see [`Client::identity`].
    pub(crate) caller: String,
    /// Configuration file of the server.
    config: String,
    /// Warnings of the type checker.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) warnings: String,
}

/// Kind of the command, in [`Header::command`].
const KIND: &str = "serve";

impl RunOrigin {
    /// Returns the client that started the run, by whose name alone it takes turns.
    pub(crate) fn client(&self) -> Client {
        match self.caller.strip_prefix("caller ") {
            Some(name) => Client::named(name, Caller::default()),
            None => Client::of_process(Caller::default()),
        }
    }
}

impl DurableSpace {
    /// Makes the runs of a space durable. `project` is its folder, `config` its configuration file.
    pub fn new(runs: DurableRuns, project: String, space: Option<String>, config: String) -> DurableSpace {
        DurableSpace(Arc::new(Inner { runs, project, space, config, reported: Mutex::default() }))
    }

    /// Returns the origin of a run that a client starts.
    pub(crate) fn origin_of(&self, client: &Client, warnings: &str) -> RunOrigin {
        let (caller, config) = (client.identity().to_string(), self.0.config.clone());
        RunOrigin { caller, config, warnings: warnings.to_owned() }
    }

    /// Returns the durable runs.
    pub fn runs(&self) -> &DurableRuns {
        &self.0.runs
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.0.runs.store()
    }

    /// Returns the settings of a worker that continues its runs.
    pub(crate) fn worker(&self, max_runs: usize) -> WorkerSettings {
        let (project, spaces) = (self.0.project.clone(), Spaces::One(self.0.space.clone()));
        WorkerSettings { project, spaces, max_runs, max_of_caller: max_runs }
    }

    /// Runs a program until it ends or leaves memory.
    pub(crate) async fn run(
        &self,
        program: &Program,
        options: RunOptions,
        origin: &RunOrigin,
    ) -> Result<DurableReport, DurableError> {
        let info = RunInfo {
            space: self.0.space.clone(),
            project: self.0.project.clone(),
            policy: None,
            command: json!({ "kind": KIND, "origin": origin }),
        };
        self.0.runs.run(program, options, info).await
    }

    /// Claims a run and executes it until it ends or leaves memory.
    pub(crate) async fn resume(
        &self,
        run: &str,
        space: &Space,
        options: RunOptions,
    ) -> Result<DurableReport, DurableError> {
        self.0.runs.resume(run, space, options).await
    }

    /// Returns the origin of a run; `None` if no server with this configuration started it.
    pub(crate) async fn origin(&self, run: &str) -> Result<Option<RunOrigin>, DurableError> {
        let header = header(&**self.store(), run).await?;
        Ok(origin(&header).filter(|origin| origin.config == self.0.config))
    }

    /// Returns a run of this space that a client started.
    pub(crate) async fn find(&self, client: &Client, run: &str) -> Result<Option<FoundRun>, DurableError> {
        let Some(row) = self.store().run(run).await? else { return Ok(None) };
        if !self.is_own(&row) {
            return Ok(None);
        }
        let origin = self.origin(run).await?.filter(|origin| *origin.caller == **client.identity());
        let Some(origin) = origin else { return Ok(None) };
        let filter = ApprovalFilter { run: Some(run.to_owned()), limit: MAX_APPROVALS, ..ApprovalFilter::default() };
        let approvals = match row.status.is_ended() {
            true => Vec::new(),
            false => self.store().approvals(filter).await?,
        };
        Ok(Some(FoundRun::new(row, origin, &approvals)))
    }

    /// Returns true if a run belongs to this project and space.
    fn is_own(&self, row: &RunRow) -> bool {
        let space = self.0.space.as_deref().unwrap_or_default();
        row.summary.project == self.0.project && row.summary.space == space
    }

    /// Returns true if an agent does not know of one of these requests.
    pub(crate) fn is_news(&self, requests: &[Arc<Request>]) -> bool {
        let reported = self.reported();
        requests.iter().any(|request| !reported.contains(&request.id))
    }

    /// Records that an agent knows of these requests.
    pub(crate) fn report(&self, requests: &[Arc<Request>]) {
        let mut reported = self.reported();
        if reported.len() >= MAX_REPORTED {
            reported.clear();
        }
        reported.extend(requests.iter().map(|request| request.id.clone()));
    }

    fn reported(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the origin of a run from its header.
fn origin(header: &Header) -> Option<RunOrigin> {
    let origin = header.command.get("origin").filter(|_| header.command["kind"] == KIND)?;
    RunOrigin::deserialize(origin).ok()
}

#[cfg(test)]
mod tests {
    use super::RunOrigin;
    use agent_spaces_http_server::Client;
    use agent_spaces_types::caller::Caller;

    #[test]
    fn a_run_that_goes_on_takes_the_turns_of_who_started_it() {
        for client in [Client::named("ann", Caller::default()), Client::of_process(Caller::default())] {
            let origin = RunOrigin { caller: client.identity().to_string(), ..RunOrigin::default() };
            assert_eq!(origin.client().owner(), client.owner());
        }
    }
}
