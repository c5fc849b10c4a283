//! Conversion of run events to messages, as soon as this process notices them.

use super::stored_messages::{Happened, Storing};
use super::types::WebhookEvent;
use super::{Webhooks, payload};
use crate::approval_request;
use crate::problem::Problem;
use agent_spaces_journal::{ApprovalRow, RunRow};
use agent_spaces_pipeline::OPERATOR_TARGET;
use agent_spaces_types::event::{Event, EventKind};
use std::time::Duration;
use tokio::sync::mpsc;

/// Number of looks for a request for approval, and the time between them: its event comes a moment before it is stored.
const LOOKS: usize = 50;
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

impl Webhooks {
    /// Notices the end of a run, if it has ended.
    pub(crate) async fn notice_end(&self, run: &str) {
        if let Err(problem) = self.try_notice_end(run).await {
            let code = problem.code();
            tracing::warn!(target: OPERATOR_TARGET, run, code, "the end of the run is not told to a webhook yet");
        }
    }

    async fn try_notice_end(&self, run: &str) -> Result<(), Problem> {
        // Its end may not be on disk yet, and reads see only what is.
        self.store().flush().await?;
        let row = self.store().run(run).await?.filter(|row| row.status.is_ended());
        let Some(row) = row else { return Ok(()) };
        let subscriber = self.subscriber(&row.summary.space, WebhookEvent::RunEnded).await?;
        if let Some(subscriber) = subscriber
            && subscriber.webhook.wants_of(WebhookEvent::RunEnded, row.updated)
        {
            self.store_end(&subscriber.owner, &row).await?;
        }
        Ok(())
    }

    /// Returns a receiver of a run's events that notices calls which need approval.
    pub(crate) fn approval_listener(&self, run: &str) -> mpsc::UnboundedSender<Event> {
        // It holds no more than a run may write and call while a message is stored.
        let (sender, mut events) = mpsc::unbounded_channel::<Event>();
        let (webhooks, run) = (self.clone(), run.to_owned());
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if let EventKind::ApprovalRequired { approval_id, .. } = &event.kind
                    && *event.run_id == *run
                    && let Err(problem) = webhooks.notice_approval(approval_id).await
                {
                    let code = problem.code();
                    tracing::warn!(target: OPERATOR_TARGET, run, code, "an approval is not told to a webhook yet");
                }
            }
        });
        sender
    }

    /// Notices a call that needs approval.
    async fn notice_approval(&self, id: &str) -> Result<(), Problem> {
        for _ in 0..LOOKS {
            // Whoever is told must find it.
            self.store().flush().await?;
            let Some(row) = self.store().approval(id).await? else {
                tokio::time::sleep(LOOK_INTERVAL).await;
                continue;
            };
            let Some(run) = self.store().run(&row.run).await? else { return Ok(()) };
            let space = run.summary.space;
            let subscriber = self.subscriber(&space, WebhookEvent::ApprovalNeeded).await?;
            if let Some(subscriber) = subscriber
                && subscriber.webhook.wants_of(WebhookEvent::ApprovalNeeded, row.created)
            {
                self.store_approval(&subscriber.owner, &space, &row).await?;
            }
            return Ok(());
        }
        // The sweep finds it.
        Ok(())
    }

    /// Stores the message of a run that ended.
    pub(super) async fn store_end(&self, owner: &str, row: &RunRow) -> Result<Storing, Problem> {
        let happened = Happened {
            owner,
            space: &row.summary.space,
            run: &row.id,
            event: WebhookEvent::RunEnded,
            approval: None,
            payload: payload::run_ended(row),
        };
        self.store_delivery(happened).await
    }

    /// Stores the message of a call that needs approval. Questions about calls in doubt are none.
    pub(super) async fn store_approval(&self, owner: &str, space: &str, row: &ApprovalRow) -> Result<Storing, Problem> {
        let Some(request) = approval_request::read(row) else { return Ok(Storing::Before) };
        let happened = Happened {
            owner,
            space,
            run: &row.run,
            event: WebhookEvent::ApprovalNeeded,
            approval: Some(&row.id),
            payload: payload::approval_needed(space, row, &request),
        };
        self.store_delivery(happened).await
    }
}
