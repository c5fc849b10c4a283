//! Approval requests of durable runs, which are in the journal.

use super::{failed, key, no_token, shared_key};
use crate::commands::failure::Failure;
use crate::commands::journal::open_existing;
use crate::commands::{session, terminal};
use agent_spaces::Code;
use agent_spaces::durable::shared_approver;
use agent_spaces::journal::{ApprovalFilter, Decided, Status, Store};
use agent_spaces_approvals::{ApproverKey, ApproverToken, Decision, Request, StoreError};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Most requests that are listed.
const MAX_LISTED: usize = 1_000;

/// Pending requests of durable runs.
pub(super) struct JournalRequests {
    store: Arc<dyn Store>,
    runtime: Runtime,
}

impl JournalRequests {
    /// Opens the journal, if there is one. Other runs can be decided on without it, so a fault is a warning.
    pub(super) fn open() -> Option<JournalRequests> {
        let opened = open_existing().and_then(|store| {
            let Some(store) = store else { return Ok(None) };
            Ok(Some(JournalRequests { store, runtime: session::runtime()? }))
        });
        opened.unwrap_or_else(|failure| {
            terminal::warn(&format!("requests of durable runs are not listed: {}", failure.message()));
            None
        })
    }

    /// Lists the pending requests. Questions about calls in doubt are none: see `agent-spaces runs answer`.
    pub(super) fn list(&self) -> Result<Vec<Request>, Failure> {
        let filter = ApprovalFilter { limit: MAX_LISTED, ..ApprovalFilter::default() };
        let rows = self.runtime.block_on(self.store.approvals(filter))?;
        let requests = rows.iter().filter_map(|row| read(&row.request));
        Ok(requests.filter(|request| request.time_left().is_some()).collect())
    }

    /// Returns one request, pending or not; `None` if the journal does not have it.
    pub(super) fn get(&self, id: &str) -> Option<Request> {
        let row = self.runtime.block_on(self.store.approval(id)).ok()??;
        read(&row.request)
    }

    /// Returns the public key that decisions must be signed for: that of all hosts, or of this one.
    fn key(&self) -> Result<ApproverKey, Failure> {
        match shared_key(&*self.store)? {
            Some(host_key) => {
                let loading = shared_approver::load(&*self.store, &host_key);
                self.runtime.block_on(loading).ok_or_else(no_token)
            }
            None => key(),
        }
    }

    /// Signs a decision and records it. Returns true if the run can be continued, and nobody executes it.
    pub(super) fn decide(&self, request: &Request, decision: Decision, token: &ApproverToken) -> Result<bool, Failure> {
        let id = || request.id.clone();
        if request.time_left().is_none() {
            return Err(failed(StoreError::Expired { id: id() }));
        }
        let signed = token.sign_decision(request, decision);
        // The first decision stands, so one that the run would refuse must not be recorded.
        if self.key()?.verify_decision(request, &signed).is_err() {
            return Err(failed(StoreError::WrongToken { id: id() }));
        }
        match self.runtime.block_on(self.store.decide(&request.id, &signed))? {
            Decided::Recorded => {
                let row = self.runtime.block_on(self.store.run(&request.run_id))?;
                Ok(row.is_some_and(|row| row.status == Status::Ready))
            }
            Decided::Already { .. } => Err(failed(StoreError::Decided { id: id() })),
            Decided::Ended | Decided::Unknown => {
                let message = format!("{} is not pending: its run has ended", request.id);
                Err(Failure::new(Code::CallDenied, message, None))
            }
        }
    }
}

/// Reads a request; `None` if it is none, or was changed.
fn read(text: &str) -> Option<Request> {
    serde_json::from_str(text).ok().filter(Request::is_consistent)
}
