//! Sending of messages that are due.

use super::retry::{Sent, wait_after};
use super::stored_messages::{Delivery, ENDED_KIND, KIND};
use super::{StoredWebhook, Webhooks, signature};
use crate::problem::Problem;
use crate::time::now_ms;
use agent_spaces_journal::{Document, Expected, Put};
use agent_spaces_pipeline::OPERATOR_TARGET;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Time for which a host claims a message: longer than a request and the writes around it.
const CLAIM_MS: i64 = 60_000;

/// Wait after the store failed.
const STORE_WAIT_MS: i64 = 5_000;

impl Webhooks {
    /// Sends messages when they are due, until the server stops. One that is being sent then is sent again later.
    pub(super) async fn send_due(&self, stopping: &CancellationToken) {
        let queue = &self.0.queue;
        loop {
            while let Some(mut sending) = queue.take(now_ms()) {
                let webhooks = self.clone();
                tokio::spawn(async move {
                    let again = match webhooks.send(&sending.id).await {
                        Ok(again) => again,
                        Err(problem) => {
                            let (webhook_id, code) = (&sending.id, problem.code());
                            tracing::warn!(target: OPERATOR_TARGET, webhook_id, code, "a webhook message was not sent");
                            Some(now_ms().saturating_add(STORE_WAIT_MS))
                        }
                    };
                    // Its drop gives it back to the queue.
                    sending.again = again;
                    drop(sending);
                });
            }
            tokio::select! {
                () = queue.changed(now_ms()) => {}
                () = stopping.cancelled() => return,
            }
        }
    }

    /// Sends a message, if it is still to be sent and no other host does. Returns the time at which it is due again;
    /// `None` if it is gone.
    pub(super) async fn send(&self, id: &str) -> Result<Option<i64>, Problem> {
        let Some(document) = self.store().document(KIND, id).await? else { return Ok(None) };
        let delivery = Delivery::read(&document)?;
        let now = now_ms();
        if delivery.due() > now {
            return Ok(Some(delivery.due()));
        }
        if self.store().document(ENDED_KIND, id).await?.is_some() {
            // It was sent, and somebody who did not know that stored it again.
            self.store().delete_document(KIND, id, Some(document.version)).await?;
            return Ok(None);
        }
        let owner = document.owner.clone();
        let (webhook_id, space) = (id, delivery.space.as_str());
        let Some(subscriber) = self.subscriber(space, delivery.event).await? else {
            tracing::warn!(
                target: OPERATOR_TARGET, webhook_id, space,
                "a webhook message was given up: its space is gone, or its webhook no longer wants it"
            );
            self.end_delivery(id, &owner).await?;
            return Ok(None);
        };
        let claim = Delivery { claimed_until: Some(now.saturating_add(CLAIM_MS)), ..delivery.clone() };
        let Some(claimed) = self.put_delivery(&document, &claim).await? else {
            // Another host was faster.
            return Ok(Some(claim.due()));
        };
        let failures = delivery.failures.saturating_add(1);
        let reason = match self.post(&subscriber.webhook, id, &delivery).await {
            Sent::Accepted => {
                self.end_delivery(id, &owner).await?;
                return Ok(None);
            }
            Sent::Stopped => "status 410: the receiver wants no more of it".to_owned(),
            Sent::Failed(reason) => {
                if let Some(wait) = wait_after(failures, random()) {
                    let next = now_ms().saturating_add(wait);
                    tracing::debug!(target: OPERATOR_TARGET, webhook_id, space, failures, reason, "a webhook message failed");
                    let later = Delivery { failures, next, claimed_until: None, ..delivery };
                    // If another host has it now, it is read again.
                    self.put_delivery(&claimed, &later).await?;
                    return Ok(Some(next));
                }
                reason
            }
        };
        tracing::warn!(target: OPERATOR_TARGET, webhook_id, space, failures, reason, "a webhook message was given up");
        self.end_delivery(id, &owner).await?;
        Ok(None)
    }

    /// Stores a message in place of the one that was read; `None` if that has changed.
    async fn put_delivery(&self, read: &Document, delivery: &Delivery) -> Result<Option<Document>, Problem> {
        let new = delivery.document(&read.id, &read.owner)?;
        match self.store().put_document(new, Expected::Version(read.version)).await? {
            Put::Stored(document) => Ok(Some(document)),
            Put::Conflict(_) | Put::Missing => Ok(None),
        }
    }

    /// Sends the request of a message.
    async fn post(&self, webhook: &StoredWebhook, id: &str, delivery: &Delivery) -> Sent {
        let body = delivery.payload.to_string();
        let Some(headers) = headers(webhook, id, now_ms() / 1_000, &body) else {
            return Sent::Failed("the secret of the webhook cannot be read".to_owned());
        };
        Sent::of(self.client().post(&webhook.url, headers, body.into(), TIMEOUT).await)
    }
}

/// Returns the headers of a message; `None` if it cannot be signed.
fn headers(webhook: &StoredWebhook, id: &str, timestamp: i64, body: &str) -> Option<HeaderMap> {
    let signature = signature::sign(&webhook.secret, id, timestamp, body)?;
    Some(HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (HeaderName::from_static("webhook-id"), HeaderValue::from_str(id).ok()?),
        (HeaderName::from_static("webhook-timestamp"), HeaderValue::from(timestamp)),
        (HeaderName::from_static("webhook-signature"), HeaderValue::from_str(&signature).ok()?),
    ]))
}

/// Returns a random number. It spreads requests, so that one without randomness does no harm.
fn random() -> u8 {
    let mut byte = [0];
    let _is_filled = getrandom::fill(&mut byte);
    u8::from_le_bytes(byte)
}
