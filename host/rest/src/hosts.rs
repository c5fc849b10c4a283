//! Hosts that share a store: each announces itself, so that all know how many there are and share quotas of runs.

use crate::ids;
use crate::service::Service;
use agent_spaces_journal::{DocumentFilter, Expected, NewDocument, Put, StoreError};
use agent_spaces_pipeline::OPERATOR_TARGET;
use std::time::Duration;

/// Kind of the documents.
const KIND: &str = "host";

/// Interval at which a host announces itself.
const INTERVAL: Duration = Duration::from_secs(10);

/// Milliseconds after which a host that is silent does not count: it missed two announcements.
const SILENCE_MS: i64 = 30_000;

/// Milliseconds for which the announcement of a host is kept at least.
const KEPT_FOR_MS: i64 = 60 * 60 * 1_000;

/// Most hosts that are counted.
const MAX_HOSTS: usize = 1_000;

impl Service {
    /// Shares quotas with other hosts, for as long as the server runs: adds what was counted here to the store, and learns
    /// how many hosts there are.
    pub async fn share_quotas(&self) {
        if !self.store().is_shared() {
            return self.meter_tenants().await;
        }
        self.look_at_hosts().await;
        tokio::join!(self.meter_tenants(), self.announce());
    }

    /// Announces this host, and learns how many there are and what the time of the store is, if hosts share it. What goes by
    /// that time begins with this.
    pub(crate) async fn look_at_hosts(&self) {
        if !self.store().is_shared() {
            return;
        }
        match self.count_hosts(&self.store().owner().id).await {
            Ok(hosts) => self.0.settings.tenants.share_with(hosts.saturating_sub(1)),
            // The last number stays.
            Err(error) => tracing::warn!(target: OPERATOR_TARGET, "hosts cannot be counted: {error}"),
        }
    }

    async fn announce(&self) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.0.draining.cancelled() => break,
            }
            self.look_at_hosts().await;
        }
        // Otherwise it is forgotten half a minute later.
        let _is_deleted = self.store().delete_document(KIND, &self.store().owner().id, None).await;
    }

    /// Announces this host, and returns the number of hosts of the project, this one included.
    async fn count_hosts(&self, id: &str) -> Result<usize, StoreError> {
        let owner = ids::derived("prj_", &[&self.0.settings.project]);
        let new = NewDocument {
            kind: KIND.to_owned(),
            id: id.to_owned(),
            owner: owner.clone(),
            body: "{}".to_owned(),
            expires: Some(crate::time::now_ms().saturating_add(KEPT_FOR_MS)),
        };
        let asked = crate::time::local_ms();
        let stored = self.store().put_document(new, Expected::Any).await?;
        // By the clock of the store, which all hosts share.
        let Put::Stored(own) = stored else { return Ok(1) };
        crate::time::note_store_time(asked, own.updated);
        let filter = DocumentFilter { owner: Some(owner), limit: MAX_HOSTS, ..DocumentFilter::of(KIND) };
        let hosts = self.store().documents(filter).await?;
        Ok(hosts.iter().filter(|host| own.updated.saturating_sub(host.updated) < SILENCE_MS).count().max(1))
    }
}

#[cfg(test)]
mod tests {
    use crate::service::test_service;

    #[tokio::test]
    async fn every_host_of_the_project_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        assert_eq!(service.count_hosts("own_1").await, Ok(1));
        assert_eq!(service.count_hosts("own_2").await, Ok(2));
        assert_eq!(service.count_hosts("own_1").await, Ok(2));
        service.store().delete_document(super::KIND, "own_2", None).await.unwrap();
        assert_eq!(service.count_hosts("own_1").await, Ok(1));
    }

    #[tokio::test]
    async fn a_store_of_one_machine_has_one_host() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        service.share_quotas().await;
        assert_eq!(service.hosts(), 1);
    }
}
