//! Shared state of the webhooks of a service, and their background tasks.

use super::queue::Queue;
use agent_spaces_journal::Store;
use agent_spaces_std::http::GuardedClient;
use moka::sync::Cache;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Most ids of messages that are known to have been stored, so that the sweep does not look each up again.
const MAX_STORED: u64 = 100_000;

/// Webhooks. Clones share state.
#[derive(Clone)]
pub(crate) struct Webhooks(pub(super) Arc<Inner>);

pub(super) struct Inner {
    store: Arc<dyn Store>,
    /// Folder of the project: others may have other rules for addresses.
    pub(super) project: String,
    pub(super) queue: Arc<Queue>,
    /// Ids of messages that were stored.
    pub(super) stored: Cache<String, ()>,
    client: GuardedClient,
}

impl Webhooks {
    /// Creates the webhooks of the spaces and runs of a store.
    pub(crate) fn new(store: Arc<dyn Store>, project: &str, reaches_private: bool) -> Webhooks {
        Webhooks(Arc::new(Inner {
            store,
            project: project.to_owned(),
            queue: Arc::default(),
            stored: Cache::builder().max_capacity(MAX_STORED).build(),
            client: GuardedClient::new(reaches_private),
        }))
    }

    /// Returns the client that sends messages, and checks addresses.
    pub(crate) fn client(&self) -> &GuardedClient {
        &self.0.client
    }

    /// Returns true if there may be messages of a space that are still to be sent.
    pub(crate) fn may_have(&self, owner: &str, space: &str) -> bool {
        self.0.queue.may_have(owner, space)
    }

    /// Delivers messages until the server stops.
    pub(crate) async fn deliver(&self, stopping: &CancellationToken) {
        tokio::join!(self.send_due(stopping), self.find_unnoticed(stopping));
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.0.store
    }
}
