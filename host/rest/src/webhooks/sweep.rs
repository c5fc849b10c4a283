//! Slow search for what nobody noticed: events whose host died before their messages were stored, and messages of other
//! hosts.

use super::delivery::{Delivery, KIND, NOTICED_FOR_MS, Storing};
use super::notice::Subscriber;
use crate::problem::Problem;
use crate::service::Service;
use crate::spaces::{self, SpaceRecord};
use crate::time::now_ms;
use crate::webhook::WebhookEvent;
use agent_spaces_journal::{ApprovalFilter, DocumentFilter, Filter, RunOwner, Status};
use agent_spaces_pipeline::OPERATOR_TARGET;
use std::time::Duration;

/// Time between two searches.
const INTERVAL: Duration = Duration::from_secs(60);

/// Documents, runs and approvals that are read at once.
const PAGE: usize = 100;

/// Pages of messages that are read: as many as are known at once.
const MESSAGE_PAGES: usize = 1_000;

/// Pages of spaces that one search looks at; the next one goes on with others.
const SPACE_PAGES: usize = 10;

/// Pages of ended runs of a space, newest first, and how many of a thorough round. Runs that end here are noticed at
/// once, so that only the first round after a start has much to find.
const RUN_PAGES: usize = 1;
const THOROUGH_RUN_PAGES: usize = 20;

/// A round over all spaces is thorough after this many others: about once an hour.
const THOROUGH_AFTER: u64 = 60;

/// Pages of pending approvals of a space.
const APPROVAL_PAGES: usize = 10;

/// Place in a round over all spaces.
#[derive(Default)]
struct Round {
    number: u64,
    /// Space that was looked at last.
    before: Option<(i64, String)>,
}

impl Service {
    /// Delivers the messages of webhooks, for as long as the server runs.
    pub async fn deliver_webhooks(&self) {
        tokio::join!(self.send_due(), self.find_unnoticed());
    }

    /// Searches again and again.
    async fn find_unnoticed(&self) {
        let mut round = Round::default();
        loop {
            if let Err(problem) = self.search(&mut round).await {
                let code = problem.code();
                tracing::warn!(target: OPERATOR_TARGET, code, "events for webhooks were not searched");
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.0.draining.cancelled() => return,
            }
        }
    }

    /// Reads the messages in the store, and looks at some spaces.
    async fn search(&self, round: &mut Round) -> Result<(), Problem> {
        self.load_deliveries().await?;
        let run_pages = match round.number % THOROUGH_AFTER {
            0 => THOROUGH_RUN_PAGES,
            _ => RUN_PAGES,
        };
        for _ in 0..SPACE_PAGES {
            let filter =
                DocumentFilter { before: round.before.take(), limit: PAGE, ..DocumentFilter::of(spaces::KIND) };
            let page = self.store().documents(filter).await?;
            if page.len() == PAGE {
                round.before = page.last().map(|document| (document.created, document.id.clone()));
            }
            for document in page {
                let id = document.id.clone();
                // One that cannot be read does not hide the others.
                let looked = match SpaceRecord::read(document).map(Subscriber::of) {
                    Ok(Some(subscriber)) => self.look_at(&id, &subscriber, run_pages).await,
                    Ok(None) => Ok(()),
                    Err(problem) => Err(problem),
                };
                if let Err(problem) = looked {
                    let (space, code) = (id, problem.code());
                    tracing::warn!(target: OPERATOR_TARGET, space, code, "events of the space were not searched");
                }
            }
            if round.before.is_none() {
                round.number = round.number.wrapping_add(1);
                break;
            }
        }
        Ok(())
    }

    /// Reads the messages in the store.
    pub(super) async fn load_deliveries(&self) -> Result<(), Problem> {
        let mut before = None;
        for _ in 0..MESSAGE_PAGES {
            let filter = DocumentFilter { before: before.take(), limit: PAGE, ..DocumentFilter::of(KIND) };
            let page = self.store().documents(filter).await?;
            for document in &page {
                // The log has the reason why one cannot be read.
                let Ok(delivery) = Delivery::read(document) else { continue };
                if delivery.project == self.0.settings.project {
                    self.0.deliveries.add(&document.id, &delivery.space, delivery.due());
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => before = Some((last.created, last.id.clone())),
                _ => break,
            }
        }
        self.0.deliveries.loaded();
        Ok(())
    }

    /// Stores the messages of a space that are missing.
    async fn look_at(&self, space: &str, subscriber: &Subscriber, run_pages: usize) -> Result<(), Problem> {
        if subscriber.webhook.wants(WebhookEvent::RunEnded) {
            self.find_ended(space, &subscriber.owner, run_pages).await?;
        }
        if subscriber.webhook.wants(WebhookEvent::ApprovalNeeded) {
            self.find_approvals(space, &subscriber.owner).await?;
        }
        Ok(())
    }

    /// Stores messages of runs that ended.
    pub(super) async fn find_ended(&self, space: &str, owner: &str, pages: usize) -> Result<(), Problem> {
        let oldest = now_ms().saturating_sub(NOTICED_FOR_MS);
        let mut before = None;
        for _ in 0..pages {
            let filter = Filter {
                statuses: Status::ALL.into_iter().filter(|status| status.is_ended()).collect(),
                space: Some(space.to_owned()),
                project: Some(self.0.settings.project.clone()),
                before: before.take(),
                limit: PAGE,
                ..Filter::default()
            };
            let rows = self.store().list(filter).await?;
            for row in rows.iter().filter(|row| row.updated >= oldest) {
                if self.store_end(owner, row).await? == Storing::Full {
                    return Ok(());
                }
            }
            match rows.last() {
                Some(last) if rows.len() == PAGE => before = Some((last.created, last.id.clone())),
                _ => break,
            }
        }
        Ok(())
    }

    /// Stores messages of calls that need approval.
    pub(super) async fn find_approvals(&self, space: &str, owner: &str) -> Result<(), Problem> {
        let oldest = now_ms().saturating_sub(NOTICED_FOR_MS);
        let mut after = None;
        for _ in 0..APPROVAL_PAGES {
            let project = self.0.settings.project.clone();
            let filter = ApprovalFilter {
                runs_of: Some(RunOwner { project, caller: None, space: Some(space.to_owned()) }),
                after: after.take(),
                limit: PAGE,
                ..ApprovalFilter::default()
            };
            let rows = self.store().approvals(filter).await?;
            for row in rows.iter().filter(|row| row.created >= oldest) {
                if self.store_approval(owner, space, row).await? == Storing::Full {
                    return Ok(());
                }
            }
            match rows.last() {
                Some(last) if rows.len() == PAGE => after = Some((last.created, last.id.clone())),
                _ => break,
            }
        }
        Ok(())
    }
}
