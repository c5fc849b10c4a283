//! Checks of the quotas of tenants.

use crate::ids;
use crate::places::{Place, Seat};
use crate::problem::Problem;
use crate::service::Service;
use crate::space_documents::KIND;
use crate::tenants::{Quota, Tenant, seconds_left, size};
use crate::time::now_ms;
use crate::who::Who;
use agent_spaces_journal::DocumentFilter;
use agent_spaces_pipeline::OPERATOR_TARGET;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;

/// Interval at which hosts add what they counted to the store.
const STORE_INTERVAL: Duration = Duration::from_secs(1);

/// Rounds of it after which sums of other hosts are read that nothing is added to.
const READ_ROUNDS: u64 = 10;

/// Longest time between two looks at a quota that is used up.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// Spaces whose sizes are measured at a time.
const PAGE: usize = 100;

impl Service {
    /// Returns a place for a run of a caller, if one is free.
    pub(crate) fn try_enter(&self, owner: &str) -> Option<Place> {
        self.0.places.try_enter(&self.seat(owner))
    }

    /// Waits for a place for a run of a caller.
    pub(crate) async fn enter(&self, owner: &str) -> Place {
        self.0.places.enter(&self.seat(owner)).await
    }

    /// Returns true if a run of a caller would find a place now.
    pub(crate) fn has_free_place(&self, owner: &str) -> bool {
        self.0.places.is_free(&self.seat(owner))
    }

    /// Returns where runs of a caller sit.
    pub(crate) fn seat(&self, owner: &str) -> Seat {
        self.0.settings.tenants.seat(owner, self.0.settings.places)
    }

    /// Returns the quota by the hour that the tenant of a caller has used up, with the tenant and the seconds until the
    /// next hour.
    pub(crate) async fn used_up(&self, owner: &str) -> Result<Option<(&Tenant, Quota, u32)>, Problem> {
        let Some(tenant) = self.0.settings.tenants.of(owner).filter(|tenant| tenant.quotas.has_hourly()) else {
            return Ok(None);
        };
        let now = now_ms();
        let used = tenant.meter.used(&**self.store(), &self.usage_id(tenant), now).await?;
        Ok(tenant.quotas.used_up(&used).map(|quota| (&**tenant, quota, seconds_left(now))))
    }

    /// Waits until the tenant of a caller may use more, which may be in the next hour, and for a place. Once the server
    /// stops it waits for a place only: the run leaves memory at once.
    pub(crate) async fn admitted(&self, owner: &str) -> Place {
        loop {
            let place = self.enter(owner).await;
            // If the store does not answer, the run is not continued anyway.
            let Ok(Some((_, _, seconds))) = self.used_up(owner).await else { return place };
            if self.0.draining.is_cancelled() {
                return place;
            }
            drop(place);
            let wait = Duration::from_secs(seconds.into()).min(MAX_SLEEP);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.0.draining.cancelled() => {}
            }
        }
    }

    /// Refuses a run of a tenant that has used up a quota.
    pub(crate) async fn check_run_quotas(&self, who: &Who) -> Result<(), Problem> {
        if let Some((tenant, quota, seconds)) = self.used_up(who.owner()).await? {
            return Err(quota.problem(&tenant.name, &tenant.quotas, seconds));
        }
        self.check_storage(who, 0).await
    }

    /// Refuses another space of a tenant that has as many as it may.
    pub(crate) async fn check_space_quota(&self, who: &Who) -> Result<(), Problem> {
        self.check_spaces(who, 1).await?;
        self.check_storage(who, 0).await
    }

    /// Refuses a space that was stored, if the tenant has more than it may: another host stored one at the same moment.
    pub(crate) async fn check_stored_space(&self, who: &Who) -> Result<(), Problem> {
        match self.store().is_shared() {
            true => self.check_spaces(who, 0).await,
            false => Ok(()),
        }
    }

    /// Refuses so many more spaces of a tenant than it may have.
    async fn check_spaces(&self, who: &Who, more: usize) -> Result<(), Problem> {
        let Some(tenant) = self.0.settings.tenants.of(who.owner()) else { return Ok(()) };
        let Some(most) = tenant.quotas.spaces else { return Ok(()) };
        let (limit, mut count) = (most.saturating_add(1), more);
        for caller in &tenant.callers {
            let filter = DocumentFilter { owner: Some(caller.clone()), limit, ..DocumentFilter::of(KIND) };
            let own = self.store().count_documents(filter).await?;
            count = count.saturating_add(usize::try_from(own).unwrap_or(usize::MAX));
            if count > most {
                return Err(Quota::Spaces.problem(&tenant.name, &tenant.quotas, 0));
            }
        }
        Ok(())
    }

    /// Refuses more bytes than the tenant of a caller may store; with no bytes, whatever stores some later.
    pub(crate) async fn check_storage(&self, who: &Who, bytes: u64) -> Result<(), Problem> {
        let Some(tenant) = self.0.settings.tenants.of(who.owner()) else { return Ok(()) };
        let Some(most) = tenant.quotas.storage else { return Ok(()) };
        let known = match tenant.files.known() {
            Some(known) => known,
            None => self.measure(tenant).await?,
        };
        match known.saturating_add(bytes.max(1)) > most {
            true => Err(Quota::Storage.problem(&tenant.name, &tenant.quotas, 0)),
            false => Ok(()),
        }
    }

    /// Takes note of bytes that a caller stored, or of a deletion.
    pub(crate) fn note_storage(&self, who: &Who, stored: Option<u64>) {
        let Some(tenant) = self.0.settings.tenants.of(who.owner()) else { return };
        match stored {
            Some(bytes) => tenant.files.add(bytes),
            None => tenant.files.forget(),
        }
    }

    /// Waits for the lock under which a tenant's spaces are counted and stored.
    pub(crate) async fn making_of_tenant(&self, who: &Who) -> Option<OwnedMutexGuard<()>> {
        let tenant = self.0.settings.tenants.of(who.owner()).filter(|tenant| tenant.quotas.spaces.is_some())?;
        Some(tenant.making.clone().lock_owned().await)
    }

    /// Adds what was counted to the store now and then, for as long as the server runs.
    pub(crate) async fn meter_tenants(&self) {
        if self.0.settings.tenants.metered().next().is_none() {
            return;
        }
        for round in 0_u64.. {
            // Sums of before the start, and of other hosts.
            let reads_all = round == 0 || (round.is_multiple_of(READ_ROUNDS) && self.store().is_shared());
            self.store_usage(reads_all).await;
            tokio::select! {
                () = tokio::time::sleep(STORE_INTERVAL) => {}
                () = self.0.draining.cancelled() => break,
            }
        }
        // Runs that leave memory may end first.
        while self.load().running > 0 {
            tokio::time::sleep(STORE_INTERVAL / 10).await;
            self.store_usage(false).await;
        }
        self.store_usage(false).await;
    }

    /// Adds what was counted to the store, and reads the sums; those of all tenants, or of those with something to add.
    async fn store_usage(&self, reads_all: bool) {
        for tenant in self.0.settings.tenants.metered().filter(|tenant| reads_all || tenant.meter.is_unsaved()) {
            if let Err(error) = tenant.meter.store(&**self.store(), &self.usage_id(tenant), now_ms()).await {
                tracing::warn!(target: OPERATOR_TARGET, "the usage of a tenant was not stored, and is tried again: {error}");
            }
        }
    }

    fn usage_id(&self, tenant: &Tenant) -> String {
        ids::derived("tnt_", &[&self.0.settings.project, &tenant.name])
    }

    /// Measures the files of a tenant's spaces.
    async fn measure(&self, tenant: &Arc<Tenant>) -> Result<u64, Problem> {
        let begun = Instant::now();
        let mut sum = 0_u64;
        for caller in &tenant.callers {
            let mut before = None;
            loop {
                let filter = DocumentFilter {
                    owner: Some(caller.clone()),
                    before: before.take(),
                    limit: PAGE,
                    ..DocumentFilter::of(KIND)
                };
                let spaces = self.store().documents(filter).await?;
                let is_last = spaces.len() < PAGE;
                before = spaces.last().map(|space| (space.created, space.id.clone()));
                let folders: Vec<_> = spaces.iter().map(|space| self.workspace(&space.id)).collect();
                let measured = tokio::task::spawn_blocking(move || {
                    folders.iter().try_fold(0_u64, |sum, folder| size(folder).map(|bytes| sum.saturating_add(bytes)))
                });
                let measured = measured.await.map_err(|error| Problem::internal(&error))?;
                sum = sum.saturating_add(measured.map_err(|error| Problem::internal(&error))?);
                if is_last {
                    break;
                }
            }
        }
        tenant.files.note(sum, begun.elapsed());
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::{Quota, Service};
    use crate::service::test_service_of;
    use crate::space_documents::KIND;
    use crate::tenants::{Quotas, Tenants};
    use crate::who::Who;
    use agent_spaces_http_server::Client;
    use agent_spaces_journal::{Expected, NewDocument};
    use agent_spaces_types::event::{Event, EventKind};
    use agent_spaces_types::usage::Usage;
    use futures_util::FutureExt;
    use std::time::Duration;
    use tempfile::TempDir;

    /// A service with the callers `shop` and `desk` of a tenant, and others.
    fn service(quotas: Quotas) -> (TempDir, Tenants, Service) {
        let folder = tempfile::tempdir().unwrap();
        let tenants = Tenants::new([("acme".to_owned(), quotas, vec!["shop".to_owned(), "desk".to_owned()])]);
        let service = test_service_of(folder.path(), tenants.clone());
        (folder, tenants, service)
    }

    fn who(name: &str) -> Who {
        Who(Client::named(name, Default::default()))
    }

    fn ended(caller: &str, usage: Usage) -> Event {
        Event {
            kind: EventKind::RunFinished { ok: true, error: None, usage },
            timestamp: String::new(),
            run_id: "run_1".into(),
            seq: 0,
            caller: Some(caller.into()),
            parent: None,
        }
    }

    async fn put_space(service: &Service, id: &str, owner: &str) {
        let new = NewDocument {
            kind: KIND.to_owned(),
            id: id.to_owned(),
            owner: owner.to_owned(),
            body: r#"{"name":"a"}"#.to_owned(),
            expires: None,
        };
        service.store().put_document(new, Expected::Any).await.unwrap();
    }

    #[tokio::test]
    async fn callers_of_a_tenant_share_its_fuel_and_others_keep_theirs() {
        let (_folder, tenants, service) = service(Quotas { fuel_per_hour: Some(10), ..Quotas::default() });
        tenants.observe(&ended("shop", Usage { fuel: 9, ..Usage::default() }));
        tenants.observe(&ended("other", Usage { fuel: 1_000, ..Usage::default() }));
        service.check_run_quotas(&who("desk")).await.unwrap();
        tenants.observe(&ended("desk", Usage { fuel: 1, ..Usage::default() }));
        for caller in ["shop", "desk"] {
            assert_eq!(service.check_run_quotas(&who(caller)).await.unwrap_err().code(), Quota::Fuel.code());
        }
        service.check_run_quotas(&who("other")).await.unwrap();
        // Another host, or this one after a restart, knows it too.
        service.store_usage(false).await;
        let again = Tenants::new([("acme".to_owned(), Quotas::default(), vec!["shop".to_owned()])]);
        let id = service.usage_id(again.of("shop").unwrap());
        let used = again.of("shop").unwrap().meter.used(&**service.store(), &id, crate::time::now_ms()).await;
        assert_eq!(used.unwrap().fuel, 10);
    }

    #[tokio::test]
    async fn runs_that_wait_go_on_in_the_next_hour_or_when_the_server_stops() {
        let (_folder, tenants, service) = service(Quotas { calls_per_hour: Some(1), ..Quotas::default() });
        drop(tokio::time::timeout(Duration::from_secs(60), service.admitted("shop")).await.unwrap());
        tenants.observe(&ended("shop", Usage { calls: 1, ..Usage::default() }));
        let mut waiting = Box::pin(service.admitted("shop"));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut waiting).await.is_err());
        assert_eq!(service.load().running, 0, "it holds no place meanwhile");
        assert!(service.admitted("other").now_or_never().is_some());
        service.drain();
        drop(tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap());
    }

    #[tokio::test]
    async fn spaces_of_all_callers_of_a_tenant_count() {
        let (_folder, _, service) = service(Quotas { spaces: Some(2), ..Quotas::default() });
        put_space(&service, "spc_1", "shop").await;
        put_space(&service, "spc_2", "other").await;
        service.check_space_quota(&who("desk")).await.unwrap();
        put_space(&service, "spc_3", "desk").await;
        service.check_spaces(&who("desk"), 0).await.unwrap();
        for caller in ["shop", "desk"] {
            assert_eq!(service.check_space_quota(&who(caller)).await.unwrap_err().code(), Quota::Spaces.code());
        }
        service.check_space_quota(&who("other")).await.unwrap();
        service.check_run_quotas(&who("shop")).await.unwrap();
        // As another host does at the same moment.
        put_space(&service, "spc_4", "shop").await;
        assert_eq!(service.check_spaces(&who("desk"), 0).await.unwrap_err().code(), Quota::Spaces.code());
    }

    #[tokio::test]
    async fn files_of_all_spaces_of_a_tenant_count() {
        let (_folder, _, service) = service(Quotas { storage: Some(100), ..Quotas::default() });
        for (space, owner, bytes) in [("spc_1", "shop", 60), ("spc_2", "desk", 30), ("spc_3", "other", 500)] {
            put_space(&service, space, owner).await;
            std::fs::create_dir_all(service.workspace(space)).unwrap();
            std::fs::write(service.workspace(space).join("a"), vec![0_u8; bytes]).unwrap();
        }
        let shop = who("shop");
        service.check_storage(&shop, 10).await.unwrap();
        assert_eq!(service.check_storage(&shop, 11).await.unwrap_err().code(), Quota::Storage.code());
        service.note_storage(&who("desk"), Some(10));
        for refused in [service.check_run_quotas(&shop).await, service.check_space_quota(&shop).await] {
            assert_eq!(refused.unwrap_err().code(), Quota::Storage.code(), "it is full");
        }
        service.check_run_quotas(&who("other")).await.unwrap();
        service.note_storage(&shop, None);
        service.check_run_quotas(&shop).await.unwrap();
    }
}
