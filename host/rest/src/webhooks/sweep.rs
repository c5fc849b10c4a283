//! Periodic sweep: stores messages of missed events, whose host died before it stored them, and loads messages of other
//! hosts.

use super::Webhooks;
use super::stored_messages::{Delivery, KIND, NOTICED_FOR_MS, Storing};
use super::subscriber::Subscriber;
use super::types::WebhookEvent;
use crate::problem::Problem;
use crate::space_documents;
use crate::time::now_ms;
use agent_spaces_journal::{ApprovalFilter, DocumentFilter, Filter, RunOwner, Status};
use agent_spaces_pipeline::OPERATOR_TARGET;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time between two searches.
const INTERVAL: Duration = Duration::from_secs(60);

/// Documents, runs and approvals that are read at once.
const PAGE: usize = 100;

/// Pages of messages that one search reads; the next one goes on with older ones.
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

/// Place in a round over all messages, and in one over all spaces.
#[derive(Default)]
pub(super) struct Round {
    number: u64,
    /// Message that was read last.
    message_before: Option<(i64, String)>,
    /// Space that was looked at last.
    space_before: Option<(i64, String)>,
}

impl Webhooks {
    /// Searches again and again, until the server stops.
    pub(super) async fn find_unnoticed(&self, stopping: &CancellationToken) {
        let mut round = Round::default();
        loop {
            if let Err(problem) = self.search(&mut round).await {
                let code = problem.code();
                tracing::warn!(target: OPERATOR_TARGET, code, "events for webhooks were not searched");
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = stopping.cancelled() => return,
            }
        }
    }

    /// Reads messages in the store, and looks at some spaces.
    async fn search(&self, round: &mut Round) -> Result<(), Problem> {
        self.load_messages(round).await?;
        let run_pages = match round.number % THOROUGH_AFTER {
            0 => THOROUGH_RUN_PAGES,
            _ => RUN_PAGES,
        };
        for _ in 0..SPACE_PAGES {
            let before = round.space_before.take();
            let filter = DocumentFilter { before, limit: PAGE, ..DocumentFilter::of(space_documents::KIND) };
            let page = self.store().documents(filter).await?;
            if page.len() == PAGE {
                round.space_before = page.last().map(|document| (document.created, document.id.clone()));
            }
            for document in page {
                let id = document.id.clone();
                // One that cannot be read does not hide the others.
                let looked = match Subscriber::read(document) {
                    Ok(Some(subscriber)) => self.look_at(&id, &subscriber, run_pages).await,
                    Ok(None) => Ok(()),
                    Err(problem) => Err(problem),
                };
                if let Err(problem) = looked {
                    let (space, code) = (id, problem.code());
                    tracing::warn!(target: OPERATOR_TARGET, space, code, "events of the space were not searched");
                }
            }
            if round.space_before.is_none() {
                round.number = round.number.wrapping_add(1);
                break;
            }
        }
        Ok(())
    }

    /// Reads messages in the store: all of them, unless there are too many for one search.
    pub(super) async fn load_messages(&self, round: &mut Round) -> Result<(), Problem> {
        for _ in 0..MESSAGE_PAGES {
            let before = round.message_before.take();
            let filter = DocumentFilter { before, limit: PAGE, ..DocumentFilter::of(KIND) };
            let page = self.store().documents(filter).await?;
            for document in &page {
                // The log has the reason why one cannot be read.
                let Ok(delivery) = Delivery::read(document) else { continue };
                if delivery.project == self.0.project {
                    self.0.queue.add(&document.id, &document.owner, &delivery.space, delivery.due());
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => round.message_before = Some((last.created, last.id.clone())),
                _ => {
                    self.0.queue.loaded();
                    break;
                }
            }
        }
        Ok(())
    }

    /// Stores the messages of a space that are missing.
    async fn look_at(&self, space: &str, subscriber: &Subscriber, run_pages: usize) -> Result<(), Problem> {
        if self.0.queue.is_full(&subscriber.owner) {
            // None would be stored, and the spaces of others are waiting.
            return Ok(());
        }
        self.find_ended(space, subscriber, run_pages).await?;
        self.find_approvals(space, subscriber).await
    }

    /// Stores messages of runs that ended, if the webhook is subscribed to them.
    pub(super) async fn find_ended(&self, space: &str, subscriber: &Subscriber, pages: usize) -> Result<(), Problem> {
        let Some(since) = subscriber.webhook.wants_since(WebhookEvent::RunEnded) else { return Ok(()) };
        let oldest = now_ms().saturating_sub(NOTICED_FOR_MS).max(since);
        let mut before = None;
        for _ in 0..pages {
            let filter = Filter {
                statuses: Status::ALL.into_iter().filter(|status| status.is_ended()).collect(),
                space: Some(space.to_owned()),
                project: Some(self.0.project.clone()),
                before: before.take(),
                limit: PAGE,
                ..Filter::default()
            };
            let rows = self.store().list(filter).await?;
            for row in rows.iter().filter(|row| row.updated >= oldest) {
                if self.store_end(&subscriber.owner, row).await? == Storing::Full {
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

    /// Stores messages of calls that need approval, if the webhook is subscribed to them.
    pub(super) async fn find_approvals(&self, space: &str, subscriber: &Subscriber) -> Result<(), Problem> {
        let Some(since) = subscriber.webhook.wants_since(WebhookEvent::ApprovalNeeded) else { return Ok(()) };
        let oldest = now_ms().saturating_sub(NOTICED_FOR_MS).max(since);
        let mut after = None;
        for _ in 0..APPROVAL_PAGES {
            let project = self.0.project.clone();
            let filter = ApprovalFilter {
                runs_of: Some(RunOwner { project, caller: None, space: Some(space.to_owned()) }),
                after: after.take(),
                limit: PAGE,
                ..ApprovalFilter::default()
            };
            let rows = self.store().approvals(filter).await?;
            for row in rows.iter().filter(|row| row.created >= oldest) {
                if self.store_approval(&subscriber.owner, space, row).await? == Storing::Full {
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
