//! Webhooks in requests and responses.

use super::StoredWebhook;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Webhook of a space to make.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhook {
    /// Address: `https://example.com/hooks/agent-spaces`.
    #[schema(max_length = 2048)]
    pub(super) url: String,
    /// Events that are sent; by default all.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_items = 1)]
    pub(super) events: Option<Vec<WebhookEvent>>,
}

/// Change of a webhook. Members that are missing stay as they are; the secret always does.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookChange {
    /// New address. Messages that wait are sent to it.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(max_length = 2048)]
    pub(super) url: Option<String>,
    /// Events that are sent from now on, all of them.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_items = 1)]
    pub(super) events: Option<Vec<WebhookEvent>>,
    /// False if nothing is to be sent. What happens until it is enabled again is never sent.
    #[serde(default, deserialize_with = "crate::body::given")]
    pub(super) enabled: Option<bool>,
}

/// Event that a webhook is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub(crate) enum WebhookEvent {
    /// A run ended.
    #[serde(rename = "run.ended")]
    RunEnded,
    /// A call needs approval.
    #[serde(rename = "approval.needed")]
    ApprovalNeeded,
}

impl WebhookEvent {
    /// All of them.
    pub(super) const ALL: [WebhookEvent; 2] = [WebhookEvent::RunEnded, WebhookEvent::ApprovalNeeded];

    /// Returns its name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            WebhookEvent::RunEnded => "run.ended",
            WebhookEvent::ApprovalNeeded => "approval.needed",
        }
    }
}

/// Webhook of a space.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Webhook {
    /// Address.
    url: String,
    /// Events that are sent.
    events: Vec<WebhookEvent>,
    /// False if nothing is sent.
    enabled: bool,
    /// Secret that signs messages: `whsec_…`. Only the response that made the space has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl Webhook {
    /// Shows a webhook, with its secret only to the request that made it.
    pub(crate) fn of(webhook: &StoredWebhook, shows_secret: bool) -> Webhook {
        Webhook {
            url: webhook.url.clone(),
            events: webhook.events.clone(),
            enabled: !webhook.is_disabled,
            secret: shows_secret.then(|| webhook.secret.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WebhookEvent;

    #[test]
    fn an_event_has_one_name() {
        for event in WebhookEvent::ALL {
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
        }
    }
}
