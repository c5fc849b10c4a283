//! Webhooks that are subscribed to an event.

use super::types::WebhookEvent;
use super::{StoredWebhook, Webhooks};
use crate::problem::Problem;
use crate::{ids, space_documents};
use agent_spaces_journal::Document;
use serde::Deserialize;

/// Webhook of a space.
pub(super) struct Subscriber {
    /// Owner of the space.
    pub(super) owner: String,
    pub(super) webhook: StoredWebhook,
}

/// Webhook member of a space's document.
#[derive(Deserialize)]
struct HookedSpace {
    #[serde(default)]
    webhook: Option<StoredWebhook>,
}

impl Subscriber {
    /// Returns the webhook of a space, if it has one.
    pub(super) fn read(document: Document) -> Result<Option<Subscriber>, Problem> {
        let space: HookedSpace = serde_json::from_str(&document.body).map_err(|error| Problem::internal(&error))?;
        Ok(space.webhook.map(|webhook| Subscriber { owner: document.owner, webhook }))
    }
}

impl Webhooks {
    /// Returns the webhook of a space, if it is subscribed to an event. A space that ends has one until it is gone.
    pub(super) async fn subscriber(&self, space: &str, event: WebhookEvent) -> Result<Option<Subscriber>, Problem> {
        if !ids::is_id(space, space_documents::PREFIX) {
            return Ok(None);
        }
        let document = self.store().document(space_documents::KIND, space).await?;
        let subscriber = document.map(Subscriber::read).transpose()?.flatten();
        Ok(subscriber.filter(|subscriber| subscriber.webhook.wants(event)))
    }
}
