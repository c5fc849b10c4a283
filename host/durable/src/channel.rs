//! Approvals of durable runs: decided in the store, whichever process the run is in.

use crate::host_key::HostKey;
use crate::shared_approver;
use agent_spaces_approvals::{Answer, ApproverKey, Channel, ChannelError, Decision, EarlierDecision, Request};
use agent_spaces_journal::Store;
use std::future::pending;
use std::sync::Arc;

/// Source of the current keys, one of which verifies a decision.
type KeySource = dyn Fn() -> Vec<ApproverKey> + Send + Sync;

/// Channel that waits for a signed decision in the store, beside another channel that may ask a person here.
pub struct DurableChannel {
    store: Arc<dyn Store>,
    keys: Box<KeySource>,
    here: Option<Arc<dyn Channel>>,
    /// Key of hosts, if they share the store.
    host_key: Option<HostKey>,
}

impl DurableChannel {
    /// Waits for decisions signed for one of the keys that `keys` returns.
    pub fn new(
        store: Arc<dyn Store>,
        keys: impl Fn() -> Vec<ApproverKey> + Send + Sync + 'static,
        here: Option<Arc<dyn Channel>>,
    ) -> DurableChannel {
        DurableChannel { store, keys: Box::new(keys), here, host_key: None }
    }

    /// Waits for decisions of an approver as well whose key is in the store, sealed with the key of hosts.
    #[must_use]
    pub fn with_host_key(mut self, host_key: Option<HostKey>) -> DurableChannel {
        self.host_key = host_key;
        self
    }

    /// Reads the decision on a request.
    async fn stored(&self, request: &Request) -> Option<Decision> {
        let signed = self.store.approval(&request.id).await.ok()??.decision?;
        if let Some(decision) = (self.keys)().iter().find_map(|key| key.verify_decision(request, &signed).ok()) {
            return Some(decision);
        }
        // Looked up again each time: another host may have replaced it.
        let shared = shared_approver::load(&*self.store, self.host_key.as_ref()?).await?;
        shared.verify_decision(request, &signed).ok()
    }

    /// Waits for the decision on a request.
    async fn decision(&self, request: &Request) -> Decided {
        let mut version = 0;
        loop {
            let changed = self.store.changed(version).await;
            if changed == version {
                // The store is closed.
                return pending().await;
            }
            version = changed;
            if let Some(decision) = self.stored(request).await {
                return Ok(decision);
            }
        }
    }
}

/// Decision, or the reason why there is none.
type Decided = Result<Decision, ChannelError>;

impl Channel for DurableChannel {
    fn decided_before<'a>(&'a self, request: &'a Request) -> EarlierDecision<'a> {
        Box::pin(self.stored(request))
    }

    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        let here = self.here.as_ref().filter(|here| here.has_somebody()).map(|here| here.ask(request.clone()));
        Box::pin(async move {
            let here = async {
                match here {
                    Some(here) => match here.await {
                        // Somebody else may still decide.
                        Err(ChannelError::Nobody(_)) => pending().await,
                        answer => answer,
                    },
                    None => pending().await,
                }
            };
            tokio::select! {
                decision = self.decision(&request) => decision,
                decision = here => decision,
            }
        })
    }

    fn has_somebody(&self) -> bool {
        !(self.keys)().is_empty()
            || self.host_key.is_some()
            || self.here.as_ref().is_some_and(|here| here.has_somebody())
    }

    fn too_late(&self, request: &Request) {
        if let Some(here) = &self.here {
            here.too_late(request);
        }
    }
}
