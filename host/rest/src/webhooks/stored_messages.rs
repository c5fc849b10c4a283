//! Messages in the store.

use super::Webhooks;
use super::queue::{MAX_OF_OWNER, MAX_OF_SPACE};
use super::types::WebhookEvent;
use crate::ids;
use crate::problem::Problem;
use crate::time::now_ms;
use agent_spaces_journal::{Document, Expected, NewDocument, Put};
use agent_spaces_pipeline::OPERATOR_TARGET;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Kind of the documents of messages to send. Their ids are those of the messages.
pub(super) const KIND: &str = "webhook_delivery";

/// Kind of the documents of messages that were sent or given up, so that the sweep does not store them again.
pub(super) const ENDED_KIND: &str = "webhook_ended";

/// Greatest age of a missed event that the sweep stores: a server that was away longer has other worries.
pub(super) const NOTICED_FOR_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Time for which an ended message is known: longer than its event can be found.
const ENDED_FOR_MS: i64 = NOTICED_FOR_MS + 24 * 60 * 60 * 1_000;

/// Message to send, as the store keeps it. Its address is that of the space when it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Delivery {
    /// Folder of the project: others may have other rules for addresses.
    pub(super) project: String,
    pub(super) space: String,
    pub(super) event: WebhookEvent,
    /// Body.
    pub(super) payload: Value,
    /// Number of requests that failed.
    #[serde(default)]
    pub(super) failures: u32,
    /// Time of the next request, in milliseconds since the Unix epoch.
    pub(super) next: i64,
    /// Time until which a host sends it, and no other does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) claimed_until: Option<i64>,
}

/// Event of a run.
pub(super) struct Happened<'a> {
    /// Owner of the space.
    pub(super) owner: &'a str,
    pub(super) space: &'a str,
    pub(super) run: &'a str,
    pub(super) event: WebhookEvent,
    /// Id of the approval, if it is about one.
    pub(super) approval: Option<&'a str>,
    /// Body of the message.
    pub(super) payload: Value,
}

/// Effect of storing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storing {
    /// It was stored.
    New,
    /// It was stored before.
    Before,
    /// Too many of its space or its owner wait. It is stored once some were sent, if somebody looks for it then.
    Full,
}

impl Delivery {
    /// Reads a message.
    pub(super) fn read(document: &Document) -> Result<Delivery, Problem> {
        serde_json::from_str(&document.body).map_err(|error| Problem::internal(&error))
    }

    /// Returns the document to store.
    pub(super) fn document(&self, id: &str, owner: &str) -> Result<NewDocument, Problem> {
        let body = serde_json::to_string(self).map_err(|error| Problem::internal(&error))?;
        Ok(NewDocument { kind: KIND.to_owned(), id: id.to_owned(), owner: owner.to_owned(), body, expires: None })
    }

    /// Returns the time at which this host may send it.
    pub(super) fn due(&self) -> i64 {
        self.claimed_until.map_or(self.next, |until| until.max(self.next))
    }
}

/// Returns the id of the message of an event: the same whoever notices it.
pub(super) fn message_id(run: &str, event: WebhookEvent, approval: Option<&str>) -> String {
    ids::derived("msg_", &[run, event.as_str(), approval.unwrap_or_default()])
}

impl Webhooks {
    /// Stores the message of an event, unless it was stored before.
    pub(super) async fn store_delivery(&self, happened: Happened<'_>) -> Result<Storing, Problem> {
        let Happened { owner, space, run, event, approval, payload } = happened;
        let id = message_id(run, event, approval);
        let (queue, known) = (&self.0.queue, &self.0.stored);
        if known.contains_key(&id) {
            return Ok(Storing::Before);
        }
        if self.store().document(ENDED_KIND, &id).await?.is_some() {
            known.insert(id, ());
            return Ok(Storing::Before);
        }
        if !queue.has_room(owner, space) {
            let event = event.as_str();
            tracing::warn!(
                target: OPERATOR_TARGET, space, run, event,
                "{MAX_OF_SPACE} webhook messages of the space or {MAX_OF_OWNER} of its caller wait; this one is stored \
                 once some were sent"
            );
            return Ok(Storing::Full);
        }
        let delivery = Delivery {
            project: self.0.project.clone(),
            space: space.to_owned(),
            event,
            payload,
            failures: 0,
            next: now_ms(),
            claimed_until: None,
        };
        let storing = match self.store().put_document(delivery.document(&id, owner)?, Expected::Absent).await? {
            Put::Stored(_) => Storing::New,
            Put::Conflict(_) => Storing::Before,
            Put::Missing => return Err(Problem::internal(&"the store neither has the message nor took it")),
        };
        // Also one that was there, which may be another host's: whoever sends it reads it first.
        queue.add(&id, owner, space, delivery.next);
        known.insert(id, ());
        Ok(storing)
    }

    /// Removes a message that was sent or given up.
    pub(super) async fn end_delivery(&self, id: &str, owner: &str) -> Result<(), Problem> {
        let ended = NewDocument {
            kind: ENDED_KIND.to_owned(),
            id: id.to_owned(),
            owner: owner.to_owned(),
            body: "{}".to_owned(),
            expires: Some(now_ms().saturating_add(ENDED_FOR_MS)),
        };
        // Before the message is deleted, so that nobody finds neither.
        self.store().put_document(ended, Expected::Any).await?;
        self.store().delete_document(KIND, id, None).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Delivery, message_id};
    use crate::webhooks::types::WebhookEvent;
    use serde_json::json;

    #[test]
    fn an_event_has_one_id() {
        let id = message_id("run_1", WebhookEvent::RunEnded, None);
        assert!(id.starts_with("msg_"));
        assert_eq!(id, message_id("run_1", WebhookEvent::RunEnded, None));
        let others = [
            message_id("run_2", WebhookEvent::RunEnded, None),
            message_id("run_1", WebhookEvent::ApprovalNeeded, Some("apr_1")),
            message_id("run_1", WebhookEvent::ApprovalNeeded, Some("apr_2")),
        ];
        assert!(!others.contains(&id) && others[1] != others[2]);
    }

    #[test]
    fn a_message_that_a_host_sends_is_due_when_its_claim_is_over() {
        let delivery = Delivery {
            project: "/p".to_owned(),
            space: "spc_1".to_owned(),
            event: WebhookEvent::RunEnded,
            payload: json!({}),
            failures: 0,
            next: 10,
            claimed_until: None,
        };
        assert_eq!(delivery.due(), 10);
        assert_eq!(Delivery { claimed_until: Some(20), ..delivery.clone() }.due(), 20);
        assert_eq!(Delivery { claimed_until: Some(5), ..delivery.clone() }.due(), 10);
        let stored = serde_json::to_string(&delivery).unwrap();
        assert!(!stored.contains("url") && !stored.contains("secret"), "{stored}");
    }
}
