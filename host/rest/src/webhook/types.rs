//! Webhooks in requests, responses and the store.

use super::signature;
use crate::problem::Problem;
use agent_spaces_std::http::GuardedClient;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Longest address, in bytes.
const MAX_URL: usize = 2_048;

/// Webhook of a space to make.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhook {
    /// Address: `https://example.com/hooks/agent-spaces`.
    #[schema(max_length = 2048)]
    url: String,
    /// Events that are sent; by default all.
    #[serde(default)]
    #[schema(min_items = 1)]
    events: Option<Vec<WebhookEvent>>,
}

/// Event that a webhook is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
    const ALL: [WebhookEvent; 2] = [WebhookEvent::RunEnded, WebhookEvent::ApprovalNeeded];

    /// Returns its name.
    pub(crate) fn as_str(self) -> &'static str {
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
    /// Secret that signs messages: `whsec_…`. Only the response that made the space has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Webhook, as the store keeps it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredWebhook {
    pub(crate) url: String,
    pub(crate) events: Vec<WebhookEvent>,
    pub(crate) secret: String,
}

/// Without the address, whose query may have a key, and the secret.
impl fmt::Debug for StoredWebhook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StoredWebhook").field("events", &self.events).finish_non_exhaustive()
    }
}

impl StoredWebhook {
    /// Checks a webhook, and generates its secret.
    pub(crate) fn new(new: NewWebhook, client: &GuardedClient) -> Result<StoredWebhook, Problem> {
        let wrong = |detail: String| Problem::invalid("/webhook/url", detail);
        if new.url.len() > MAX_URL {
            return Err(wrong(format!("expected at most {MAX_URL} bytes")));
        }
        let url = client.check(&new.url).map_err(|error| wrong(error.message))?;
        let asked = new.events.unwrap_or_else(|| WebhookEvent::ALL.to_vec());
        let events: Vec<WebhookEvent> = WebhookEvent::ALL.into_iter().filter(|event| asked.contains(event)).collect();
        if events.is_empty() {
            return Err(Problem::invalid("/webhook/events", "expected at least one event"));
        }
        Ok(StoredWebhook { url: url.into(), events, secret: signature::new_secret()? })
    }

    /// Returns the webhook without its secret.
    pub(crate) fn without_secret(&self) -> StoredWebhook {
        StoredWebhook { secret: String::new(), ..self.clone() }
    }

    /// Returns true if an event is sent.
    pub(crate) fn wants(&self, event: WebhookEvent) -> bool {
        self.events.contains(&event)
    }
}

impl Webhook {
    /// Shows a webhook, with its secret only to the request that made it.
    pub(crate) fn of(webhook: &StoredWebhook, shows_secret: bool) -> Webhook {
        Webhook {
            url: webhook.url.clone(),
            events: webhook.events.clone(),
            secret: shows_secret.then(|| webhook.secret.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NewWebhook, StoredWebhook, Webhook, WebhookEvent};
    use crate::problem::Problem;
    use agent_spaces_std::http::GuardedClient;
    use serde_json::{Value, json};

    fn made(webhook: Value, reaches_private: bool) -> Result<StoredWebhook, Problem> {
        let new: NewWebhook = serde_json::from_value(webhook).unwrap();
        StoredWebhook::new(new, &GuardedClient::new(reaches_private))
    }

    #[test]
    fn private_and_plain_http_addresses_are_refused_unless_they_are_allowed() {
        for url in ["http://example.com/hook", "https://127.0.0.1/", "https://localhost/", "https://10.0.0.1:8443/"] {
            let problem = made(json!({ "url": url }), false).unwrap_err();
            let problem = serde_json::to_value(problem).unwrap();
            assert_eq!((&problem["status"], &problem["errors"][0]["pointer"]), (&json!(400), &json!("/webhook/url")));
            assert!(made(json!({ "url": url }), true).is_ok(), "{url}");
        }
        assert!(made(json!({ "url": "https://example.com/hook" }), false).is_ok());
        for url in ["", "example.com", "file:///etc/passwd", "https://me@example.com/", "http://169.254.169.254/"] {
            assert!(made(json!({ "url": url }), true).is_err(), "{url}");
        }
        assert!(made(json!({ "url": format!("https://example.com/{}", "a".repeat(2_048)) }), false).is_err());
    }

    #[test]
    fn all_events_are_sent_unless_some_are_named() {
        let url = "https://example.com/";
        assert_eq!(made(json!({ "url": url }), false).unwrap().events, WebhookEvent::ALL);
        let some = made(json!({ "url": url, "events": ["run.ended", "run.ended"] }), false).unwrap();
        assert_eq!(some.events, [WebhookEvent::RunEnded]);
        assert!(some.wants(WebhookEvent::RunEnded) && !some.wants(WebhookEvent::ApprovalNeeded));
        assert!(made(json!({ "url": url, "events": [] }), false).is_err());
        for event in WebhookEvent::ALL {
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
        }
    }

    #[test]
    fn the_secret_is_shown_only_if_asked_for_and_never_logged() {
        let webhook = made(json!({ "url": "https://example.com/?key=k1" }), false).unwrap();
        assert!(webhook.secret.starts_with("whsec_"));
        let shown = serde_json::to_value(Webhook::of(&webhook, true)).unwrap();
        assert_eq!(shown["secret"], webhook.secret);
        let hidden = serde_json::to_value(Webhook::of(&webhook, false)).unwrap();
        assert_eq!((hidden.get("secret"), &hidden["url"]), (None, &json!("https://example.com/?key=k1")));
        let logged = format!("{webhook:?}");
        assert!(!logged.contains(&webhook.secret) && !logged.contains("k1"), "{logged}");
    }
}
