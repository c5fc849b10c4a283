//! State that all requests share: the store, the spaces, the runs in memory.

use crate::admission::Admission;
use crate::audit::{Action, ApiAction, AuditLog, Subject};
use crate::callers::CallerStates;
use crate::change_feed::ChangeFeed;
use crate::followers::Followers;
use crate::live::LiveRuns;
use crate::pins::Pins;
use crate::places::{Load, Places};
use crate::problem::Problem;
use crate::server_source::ServerSource;
use crate::source::SpaceSource;
use crate::space_cache::SpaceCache;
use crate::tenants::Tenants;
use crate::webhooks::Webhooks;
use crate::who::Who;
use agent_spaces_approvals::{ApproverToken, WaitingCalls};
use agent_spaces_durable::{DurableRuns, Worker};
use agent_spaces_http_server::Client;
use agent_spaces_journal::{DocumentFilter, Store};
use agent_spaces_pipeline::OPERATOR_TARGET;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Settings of the service.
pub struct ServiceSettings {
    /// Folder of the project, as in the journal.
    pub project: String,
    /// Configuration file: another one may have other rules. Only its own runs are continued.
    pub config: String,
    /// Folder of the workspaces of spaces that are made at run time.
    pub workspaces: PathBuf,
    /// Hosts of workspaces; `None` if all hosts of the store have the same folders, or there is one host.
    pub pins: Option<Pins>,
    /// Maximum concurrent runs of one caller; others are queued.
    pub concurrency: usize,
    /// Maximum concurrent runs of all callers in this process; others are queued, and callers take turns.
    pub places: usize,
    /// Tenants of callers, with their quotas.
    pub tenants: Tenants,
    /// Token that signs the decisions of callers who may approve.
    pub approver: ApproverToken,
    /// Audit log of the actions of callers; `None` if the configuration switches it off.
    pub audit: Option<Arc<dyn AuditLog>>,
    /// True if webhooks may have private addresses, and plain HTTP.
    pub webhooks_reach_private: bool,
}

/// The service. Clones share state.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) runs: DurableRuns,
    pub(crate) source: Arc<dyn SpaceSource>,
    pub(crate) settings: ServiceSettings,
    pub(crate) spaces: SpaceCache,
    pub(crate) live: LiveRuns,
    pub(crate) followers: Followers,
    pub(crate) changes: ChangeFeed,
    pub(crate) webhooks: Webhooks,
    pub(crate) callers: CallerStates,
    /// MCP servers, if they are shown.
    pub(crate) servers: OnceLock<Arc<dyn ServerSource>>,
    /// Calls of agents that wait for a person, if there are agents.
    pub(crate) waiting_calls: OnceLock<Arc<dyn WaitingCalls>>,
    pub(crate) places: Places,
    /// Requests that create runs.
    pub(crate) admission: Admission,
    pub(crate) worker: Mutex<Option<Worker>>,
    /// Cancelled when the server stops: no new runs.
    pub(crate) draining: CancellationToken,
}

impl Service {
    /// Creates a service for the runs of a store.
    pub fn new(runs: DurableRuns, source: Arc<dyn SpaceSource>, settings: ServiceSettings) -> Service {
        let followers = Followers::new(runs.store().clone());
        let changes = ChangeFeed::new(runs.store().clone(), &settings.project);
        let places = Places::new(settings.places, settings.concurrency, settings.tenants.processors().clone());
        let webhooks = Webhooks::new(runs.store().clone(), &settings.project, settings.webhooks_reach_private);
        Service(Arc::new(Inner {
            runs,
            source,
            settings,
            spaces: SpaceCache::default(),
            live: LiveRuns::default(),
            followers,
            changes,
            webhooks,
            callers: CallerStates::default(),
            servers: OnceLock::new(),
            waiting_calls: OnceLock::new(),
            places,
            admission: Admission::of_this_machine(),
            worker: Mutex::default(),
            draining: CancellationToken::new(),
        }))
    }

    /// Shows MCP servers. Only the first call has an effect.
    pub fn show_servers(&self, servers: Arc<dyn ServerSource>) {
        let _is_shown_already = self.0.servers.set(servers);
    }

    /// Lists and decides calls of agents that wait for a person, beside those of runs. Only the first call has an effect.
    pub fn show_waiting_calls(&self, calls: Arc<dyn WaitingCalls>) {
        if self.0.waiting_calls.set(calls.clone()).is_ok() {
            calls.listen(self.0.changes.call_listener());
        }
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.0.runs.store()
    }

    /// Computes something for a caller, in its tenant's turn. A client that disconnects does not end what has begun.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        who: &Who,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let tenant = self.seat(who.owner()).tenant;
        let computed = self.0.places.compute(&tenant, work).await;
        computed.map_err(|_| Problem::internal(&"the work on a request panicked"))
    }

    /// Returns true if a caller has this many documents of a kind, or more.
    pub(crate) async fn has_as_many(&self, who: &Who, kind: &str, count: usize) -> Result<bool, Problem> {
        let filter = DocumentFilter { owner: Some(who.owner().to_owned()), limit: count, ..DocumentFilter::of(kind) };
        Ok(self.store().count_documents(filter).await? >= count as u64)
    }

    /// Returns the time until which a caller had runs in memory: now if it has some, `None` if it never had.
    pub fn last_activity(&self, owner: &str) -> Option<Instant> {
        self.0.callers.last_activity(owner)
    }

    /// Delivers the messages of webhooks, for as long as the server runs.
    pub async fn deliver_webhooks(&self) {
        self.0.webhooks.deliver(&self.0.draining).await;
    }

    /// Returns the load of this process: runs that have a place, and those that wait for one.
    pub fn load(&self) -> Load {
        self.0.places.load()
    }

    /// Returns the number of hosts that share the store; one if nobody else does.
    pub fn hosts(&self) -> usize {
        self.0.settings.tenants.hosts()
    }

    /// Waits until a run has ended, at most for this time, and not while the server stops.
    pub(crate) async fn ended(&self, run: &str, wait: Duration) {
        if wait.is_zero() {
            return;
        }
        // Most runs have ended by then, and followers are told only now and then.
        if self.run_has_ended(run).await {
            return;
        }
        tokio::select! {
            () = self.0.followers.ended(run, wait) => {}
            () = self.0.draining.cancelled() => {}
        }
    }

    /// Returns true if the store has the end of a run.
    pub(crate) async fn run_has_ended(&self, run: &str) -> bool {
        matches!(self.store().run(run).await, Ok(Some(row)) if row.status.is_ended())
    }

    /// Refuses new work once the server stops.
    pub(crate) fn check_open(&self) -> Result<(), Problem> {
        match self.0.draining.is_cancelled() {
            true => Err(Problem::unavailable("host.stopping", "The server stops; try again in a moment")),
            false => Ok(()),
        }
    }

    /// Returns true if the server takes requests and its store answers within the time.
    pub async fn is_ready(&self, within: Duration) -> bool {
        let answered = tokio::time::timeout(within, self.store().progress(Vec::new())).await;
        !self.0.draining.is_cancelled() && matches!(answered, Ok(Ok(_)))
    }

    /// Takes no new runs, and makes those in memory leave it.
    pub fn drain(&self) {
        self.0.draining.cancel();
        self.0.runs.stop();
        if let Some(worker) = &*self.0.worker.lock().unwrap_or_else(PoisonError::into_inner) {
            worker.claim_no_more();
        }
    }

    /// Waits until no run is in memory.
    pub async fn drained(&self) {
        // The worker stays: dropping it would drop the runs that it executes.
        if let Some(worker) = &*self.0.worker.lock().unwrap_or_else(PoisonError::into_inner) {
            worker.claim_no_more();
        }
        self.0.live.ended().await;
    }
}

impl Service {
    /// Writes to the audit log that a caller signs in to the console, or has signed out. Returns false if the log is required
    /// and cannot be written.
    pub async fn record_session(&self, client: &Client, is_begin: bool) -> bool {
        let action = if is_begin { Action::SessionCreated } else { Action::SessionEnded };
        self.record(ApiAction::new(&Who(client.clone()), action, Subject::default())).await.is_ok()
    }

    /// Writes an action to the audit log, before it takes effect.
    pub(crate) async fn record(&self, action: ApiAction) -> Result<(), Problem> {
        let Some(log) = &self.0.settings.audit else { return Ok(()) };
        log.record(action).await.map_err(|fault| {
            tracing::warn!(target: OPERATOR_TARGET, "a request was refused: the audit log cannot be written: {fault}");
            Problem::unavailable("host.audit", "The audit log is required and cannot be written now; nothing was done")
        })
    }
}

/// Service of a store in this folder, without spaces.
#[cfg(test)]
pub(crate) fn test_service(folder: &std::path::Path) -> Service {
    test_service_of(folder, Tenants::default())
}

/// The same with tenants.
#[cfg(test)]
pub(crate) fn test_service_of(folder: &std::path::Path, tenants: Tenants) -> Service {
    made_test_service(folder, tenants, None)
}

/// The same with workspaces that are pinned to hosts.
#[cfg(test)]
pub(crate) fn test_service_pinned(folder: &std::path::Path, pins: Option<Pins>) -> Service {
    made_test_service(folder, Tenants::default(), pins)
}

#[cfg(test)]
fn made_test_service(folder: &std::path::Path, tenants: Tenants, pins: Option<Pins>) -> Service {
    let store = agent_spaces_journal::SqliteStore::open(&folder.join("journal"), Default::default()).unwrap();
    let settings = ServiceSettings {
        audit: None,
        project: "/project".to_owned(),
        config: "/project/config.json".to_owned(),
        workspaces: folder.join("workspaces"),
        pins,
        concurrency: 1,
        places: 100,
        tenants,
        approver: ApproverToken::new().unwrap(),
        webhooks_reach_private: false,
    };
    let runs = DurableRuns::new(Arc::new(store), agent_spaces_durable::Settings::default());
    Service::new(runs, Arc::new(crate::source::NoSpaces), settings)
}

#[cfg(test)]
mod tests {
    use super::test_service;
    use crate::who::Who;
    use agent_spaces_http_server::Client;
    use agent_spaces_journal::tenant;

    #[tokio::test]
    async fn what_a_request_computes_takes_its_tenants_turn_and_may_panic() {
        let folder = tempfile::tempdir().unwrap();
        let (service, who) = (test_service(folder.path()), Who(Client::named("ann", Default::default())));
        let look = || (std::thread::current().name().map(str::to_owned), tenant::current());
        let (thread, tenant) = service.compute(&who, look).await.unwrap();
        assert_eq!((thread.as_deref(), tenant.as_deref()), (Some("processor"), Some("caller ann")));
        let failed = service.compute(&who, || assert!(std::hint::black_box(false), "on purpose")).await;
        assert_eq!(failed.unwrap_err().code(), "host.failed");
    }
}
