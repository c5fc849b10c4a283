//! End of a space: its runs are cancelled, its MCP sessions closed, its files deleted.

use super::SpaceRecord;
use super::record::{KIND, Made, REMOVAL_TIME_MS, StoredSpace};
use crate::audit::{Action, ApiAction, Subject};
use crate::problem::Problem;
use crate::service::Service;
use crate::time::now_ms;
use agent_spaces_durable::control::{self, Cancelled};
use agent_spaces_journal::{Document, DocumentFilter, Expected, Filter, NewDocument, Status};
use agent_spaces_pipeline::OPERATOR_TARGET;
use std::collections::HashSet;
use std::time::Duration;

/// Kind of the documents of spaces that ended.
pub(super) const ENDED_KIND: &str = "space_ended";

/// Interval at which spaces are looked for whose time is over.
const INTERVAL: Duration = Duration::from_secs(1);

/// Longest time that cancelled runs have to leave memory. Most need a moment.
const LEAVING_TIME: Duration = Duration::from_secs(5);

/// Time for which hosts that do not have the files of a space that ends go on with its end: the one that began it may
/// have died before it cancelled all runs.
const HELP_TIME_MS: i64 = 60_000;

/// Spaces and runs that are read at once.
const PAGE: usize = 100;

/// Time for which the document of a space with a webhook stays after its end, so that the ends of its runs are noticed,
/// and the longest time for which it stays while messages are still to be sent: its address and secret are in it.
const NOTICE_TIME_MS: i64 = 5_000;
const DELIVERY_TIME_MS: i64 = 10 * 60 * 1_000;

impl Service {
    /// Ends a space. It is gone at once; what it started is ended before this returns.
    pub(super) async fn end_space(&self, id: &str, made: &Made) -> Result<(), Problem> {
        let part = StoredSpace { is_ending: true, ..made.part.clone() };
        // If the server stops meanwhile, the sweep goes on with it.
        let ending = self.put_space(id, &made.owner, &part, Expected::Version(made.version)).await?;
        self.finish_ending(&ending).await
    }

    /// Cancels the runs of a space that ends, and deletes its files and the space. A space whose webhook is still to be
    /// told of something is deleted by a later sweep, and one whose files are on another host by that host.
    async fn finish_ending(&self, space: &SpaceRecord) -> Result<(), Problem> {
        let (mut before, mut leaving) = (None, Vec::new());
        loop {
            let runs = self.store().list(self.unended(space, before)).await?;
            for run in &runs {
                let cancelled = control::cancel(&**self.store(), &run.id).await?;
                if self.0.live.cancel(&run.id) {
                    leaving.push(run.id.clone());
                }
                if cancelled == Cancelled::Ended && space.has_webhook() {
                    self.0.webhooks.notice_end(&run.id).await;
                }
            }
            let Some(last) = runs.last() else { break };
            before = Some((last.created, last.id.clone()));
        }
        // They may use the sessions and the files that are removed.
        self.0.live.left(&leaving, LEAVING_TIME).await;
        self.remove_kept(space).await?;
        if self.elsewhere(space).is_some() {
            // Its own host finds it in a sweep, removes its files and deletes it. If that host is gone, a prune deletes it.
            return Ok(());
        }
        if !self.is_awaited(space).await? {
            self.remember_ended(space).await?;
            let version = space.made.as_ref().map(|made| made.version);
            self.store().delete_document(KIND, &space.id, version).await?;
        }
        Ok(())
    }

    /// Remembers that a space ended, for as long as the key of the request that made it is known.
    async fn remember_ended(&self, space: &SpaceRecord) -> Result<(), Problem> {
        let owner = space.made.as_ref().map(|made| made.owner.clone()).unwrap_or_default();
        let expires = Some(now_ms().saturating_add(REMOVAL_TIME_MS.saturating_mul(2)));
        let (kind, id, body) = (ENDED_KIND.to_owned(), space.id.clone(), "{}".to_owned());
        self.store().put_document(NewDocument { kind, id, owner, body, expires }, Expected::Any).await?;
        Ok(())
    }

    /// Returns true if a space ended not long ago.
    pub(super) async fn has_ended(&self, id: &str) -> Result<bool, Problem> {
        let document = self.store().document(KIND, id).await?;
        Ok(document.is_some() || self.store().document(ENDED_KIND, id).await?.is_some())
    }

    /// Returns true if the webhook of a space that ends is still to be told of something.
    async fn is_awaited(&self, space: &SpaceRecord) -> Result<bool, Problem> {
        let Some(made) = space.made.as_ref().filter(|made| made.part.webhook.is_some()) else { return Ok(false) };
        let age = now_ms().saturating_sub(made.updated);
        if !(NOTICE_TIME_MS..DELIVERY_TIME_MS).contains(&age) {
            return Ok(age < NOTICE_TIME_MS);
        }
        let unended = Filter { limit: 1, ..self.unended(space, None) };
        Ok(self.0.webhooks.may_have(&made.owner, &space.id) || !self.store().list(unended).await?.is_empty())
    }

    /// Returns the filter of the runs of a space that have not ended.
    fn unended(&self, space: &SpaceRecord, before: Option<(i64, String)>) -> Filter {
        Filter {
            statuses: vec![Status::Ready, Status::Running, Status::Parked],
            space: Some(space.id.clone()),
            project: Some(self.0.settings.project.clone()),
            before,
            limit: PAGE,
            ..Filter::default()
        }
    }

    /// Ends spaces whose time is over, for as long as the server runs.
    pub async fn end_expired_spaces(&self) {
        // Not before the time of the store is known: what ends early is lost.
        self.look_at_hosts().await;
        loop {
            if let Err(problem) = self.sweep().await {
                tracing::warn!(target: OPERATOR_TARGET, "spaces whose time is over were not ended: {}", problem.code());
            }
            if self.store().is_shared()
                && let Err(problem) = self.forget_ended(&self.0.spaces.ids()).await
            {
                let code = problem.code();
                tracing::warn!(target: OPERATOR_TARGET, "something of spaces that other hosts ended is left: {code}");
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.0.draining.cancelled() => return,
            }
        }
    }

    /// Removes what is kept here for spaces that another host ended lately: MCP servers and their folders. `used` are the
    /// spaces that this host has used.
    pub(super) async fn forget_ended(&self, used: &HashSet<String>) -> Result<(), Problem> {
        if used.is_empty() {
            return Ok(());
        }
        // The newest, which are more than end between two looks.
        let filter = DocumentFilter { limit: PAGE, ..DocumentFilter::of(ENDED_KIND) };
        for document in self.store().documents(filter).await? {
            if used.contains(&document.id) {
                self.remove_kept(&SpaceRecord::ended(document)).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn sweep(&self) -> Result<(), Problem> {
        let now = now_ms();
        let due = now.saturating_add(REMOVAL_TIME_MS);
        let mut before = None;
        loop {
            let expired_before = Some(due);
            let filter = DocumentFilter { expired_before, before, limit: PAGE, ..DocumentFilter::of(KIND) };
            let page = self.store().documents(filter).await?;
            let Some(last) = page.last() else { return Ok(()) };
            before = Some((last.created, last.id.clone()));
            for document in page {
                let id = document.id.clone();
                // One that cannot be ended does not hold up the others. What another host changed meanwhile, it ends.
                if let Err(problem) = self.sweep_space(document).await
                    && problem.code() != "precondition"
                {
                    let code = problem.code();
                    tracing::warn!(target: OPERATOR_TARGET, "the space {id} was not ended and is tried again: {code}");
                }
            }
        }
    }

    /// Ends a space whose time is over, or goes on with one that ends.
    async fn sweep_space(&self, document: Document) -> Result<(), Problem> {
        let space = SpaceRecord::read(document)?;
        let Some(made) = &space.made else { return Ok(()) };
        let is_left_to_host =
            || now_ms().saturating_sub(made.updated) > HELP_TIME_MS && self.elsewhere(&space).is_some();
        match made.part.is_ending {
            true if is_left_to_host() => Ok(()),
            true => self.finish_ending(&space).await,
            false if !made.part.is_alive() => {
                let subject = Subject::space(&space.id);
                self.record(ApiAction::of_owner(&made.owner, Action::SpaceExpired, subject)).await?;
                self.end_space(&space.id, made).await
            }
            false => Ok(()),
        }
    }
}
