//! Webhooks in the store, as parts of the documents of their spaces.

use super::signature;
use super::types::{NewWebhook, WebhookChange, WebhookEvent};
use crate::problem::Problem;
use agent_spaces_std::http::GuardedClient;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Longest address, in bytes.
const MAX_URL: usize = 2_048;

/// Webhook, as the store keeps it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredWebhook {
    pub(super) url: String,
    pub(super) events: Vec<WebhookEvent>,
    pub(super) secret: String,
    /// True if nothing is sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_disabled: bool,
    /// Times from which events are sent that once were not, in milliseconds since the Unix epoch: those before are not
    /// made up for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    since: BTreeMap<WebhookEvent, i64>,
}

/// Without the address, whose query may have a key, and the secret.
impl fmt::Debug for StoredWebhook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StoredWebhook").field("events", &self.events).finish_non_exhaustive()
    }
}

impl StoredWebhook {
    /// Checks a webhook of a space to make, and generates its secret.
    pub(crate) fn new(new: NewWebhook, client: &GuardedClient) -> Result<StoredWebhook, Problem> {
        let asked = new.events.unwrap_or_else(|| WebhookEvent::ALL.to_vec());
        Ok(StoredWebhook {
            url: checked_url(&new.url, client, "/webhook/url")?,
            events: checked_events(&asked, "/webhook/events")?,
            secret: signature::new_secret()?,
            is_disabled: false,
            since: BTreeMap::new(),
        })
    }

    /// Checks a change, and returns the webhook with it from this time on.
    pub(crate) fn changed(
        &self,
        change: WebhookChange,
        client: &GuardedClient,
        now: i64,
    ) -> Result<StoredWebhook, Problem> {
        let mut webhook = self.clone();
        if let Some(url) = change.url {
            webhook.url = checked_url(&url, client, "/url")?;
        }
        if let Some(asked) = change.events {
            webhook.events = checked_events(&asked, "/events")?;
        }
        if let Some(enabled) = change.enabled {
            webhook.is_disabled = !enabled;
        }
        for event in WebhookEvent::ALL {
            if webhook.wants(event) && !self.wants(event) {
                webhook.since.insert(event, now);
            }
        }
        Ok(webhook)
    }

    /// Returns the webhook without its secret.
    pub(crate) fn without_secret(&self) -> StoredWebhook {
        StoredWebhook { secret: String::new(), ..self.clone() }
    }

    /// Returns true if an event is sent.
    pub(super) fn wants(&self, event: WebhookEvent) -> bool {
        !self.is_disabled && self.events.contains(&event)
    }

    /// Returns the time from which an event is sent; `None` if it is not.
    pub(super) fn wants_since(&self, event: WebhookEvent) -> Option<i64> {
        self.wants(event).then(|| self.since.get(&event).copied().unwrap_or(i64::MIN))
    }

    /// Returns true if an event of this time is sent.
    pub(super) fn wants_of(&self, event: WebhookEvent, at: i64) -> bool {
        self.wants_since(event).is_some_and(|since| at >= since)
    }
}

/// Returns an address that messages may be sent to.
fn checked_url(url: &str, client: &GuardedClient, pointer: &str) -> Result<String, Problem> {
    let wrong = |detail: String| Problem::invalid(pointer, detail);
    if url.len() > MAX_URL {
        return Err(wrong(format!("expected at most {MAX_URL} bytes")));
    }
    let url = client.check(url).map_err(|error| wrong(error.message))?;
    Ok(url.into())
}

/// Returns events in their order, each once.
fn checked_events(asked: &[WebhookEvent], pointer: &str) -> Result<Vec<WebhookEvent>, Problem> {
    let events: Vec<WebhookEvent> = WebhookEvent::ALL.into_iter().filter(|event| asked.contains(event)).collect();
    match events.is_empty() {
        true => Err(Problem::invalid(pointer, "expected at least one event")),
        false => Ok(events),
    }
}

#[cfg(test)]
mod tests {
    use super::StoredWebhook;
    use crate::problem::Problem;
    use crate::webhooks::types::{NewWebhook, Webhook, WebhookChange, WebhookEvent};
    use agent_spaces_std::http::GuardedClient;
    use serde_json::{Value, json};

    fn made(webhook: Value, reaches_private: bool) -> Result<StoredWebhook, Problem> {
        let new: NewWebhook = serde_json::from_value(webhook).unwrap();
        StoredWebhook::new(new, &GuardedClient::new(reaches_private))
    }

    fn changed(webhook: &StoredWebhook, change: Value, now: i64) -> Result<StoredWebhook, Problem> {
        let change: WebhookChange = serde_json::from_value(change).unwrap();
        webhook.changed(change, &GuardedClient::new(false), now)
    }

    /// Returns the pointer of a fault of the request.
    fn pointer(refused: Result<StoredWebhook, Problem>) -> Value {
        let problem = serde_json::to_value(refused.unwrap_err()).unwrap();
        assert_eq!(problem["status"], 400, "{problem}");
        problem["errors"][0]["pointer"].clone()
    }

    #[test]
    fn private_and_plain_http_addresses_are_refused_unless_they_are_allowed() {
        let public = made(json!({ "url": "https://example.com/hook" }), false).unwrap();
        for url in ["http://example.com/hook", "https://127.0.0.1/", "https://localhost/", "https://10.0.0.1:8443/"] {
            assert_eq!(pointer(made(json!({ "url": url }), false)), "/webhook/url");
            assert_eq!(pointer(changed(&public, json!({ "url": url }), 0)), "/url");
            assert!(made(json!({ "url": url }), true).is_ok(), "{url}");
        }
        for url in ["", "example.com", "file:///etc/passwd", "https://me@example.com/", "http://169.254.169.254/"] {
            assert!(made(json!({ "url": url }), true).is_err(), "{url}");
            assert!(changed(&public, json!({ "url": url }), 0).is_err(), "{url}");
        }
        let long = json!({ "url": format!("https://example.com/{}", "a".repeat(2_048)) });
        assert!(made(long.clone(), false).is_err() && changed(&public, long, 0).is_err());
    }

    #[test]
    fn all_events_are_sent_unless_some_are_named() {
        let url = "https://example.com/";
        assert_eq!(made(json!({ "url": url }), false).unwrap().events, WebhookEvent::ALL);
        let some = made(json!({ "url": url, "events": ["run.ended", "run.ended"] }), false).unwrap();
        assert_eq!(some.events, [WebhookEvent::RunEnded]);
        assert!(some.wants(WebhookEvent::RunEnded) && !some.wants(WebhookEvent::ApprovalNeeded));
        assert_eq!(pointer(made(json!({ "url": url, "events": [] }), false)), "/webhook/events");
        assert_eq!(pointer(changed(&some, json!({ "events": [] }), 0)), "/events");
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let webhook = made(json!({ "url": "https://example.com/", "events": ["run.ended"] }), false).unwrap();
        assert_eq!(changed(&webhook, json!({}), 5).unwrap(), webhook);
        let moved = changed(&webhook, json!({ "url": "https://example.org/hook" }), 5).unwrap();
        assert_eq!(moved, StoredWebhook { url: "https://example.org/hook".to_owned(), ..webhook.clone() });
        let disabled = changed(&webhook, json!({ "enabled": false }), 5).unwrap();
        assert_eq!(disabled, StoredWebhook { is_disabled: true, ..webhook });
        assert!(!disabled.wants(WebhookEvent::RunEnded));
        assert!(serde_json::from_value::<WebhookChange>(json!({ "secret": "whsec_1" })).is_err());
    }

    #[test]
    fn an_event_is_sent_from_the_time_at_which_it_was_asked_for() {
        let since = |webhook: &StoredWebhook| {
            [WebhookEvent::RunEnded, WebhookEvent::ApprovalNeeded].map(|event| webhook.wants_since(event))
        };
        let webhook = made(json!({ "url": "https://example.com/", "events": ["run.ended"] }), false).unwrap();
        assert_eq!(since(&webhook), [Some(i64::MIN), None]);
        let both = changed(&webhook, json!({ "events": ["run.ended", "approval.needed"] }), 5).unwrap();
        assert_eq!(since(&both), [Some(i64::MIN), Some(5)]);
        let disabled = changed(&both, json!({ "enabled": false }), 6).unwrap();
        assert_eq!(since(&disabled), [None, None]);
        let enabled = changed(&disabled, json!({ "enabled": true, "events": ["run.ended"] }), 7).unwrap();
        assert_eq!(since(&enabled), [Some(7), None]);
        let is_sent = [6, 7].map(|at| enabled.wants_of(WebhookEvent::RunEnded, at));
        assert_eq!((is_sent, enabled.wants_of(WebhookEvent::ApprovalNeeded, 9)), ([false, true], false));
        let stored = serde_json::to_string(&enabled).unwrap();
        assert_eq!(serde_json::from_str::<StoredWebhook>(&stored).unwrap(), enabled);
        let old = r#"{"url":"https://example.com/","events":["run.ended"],"secret":"whsec_1"}"#;
        let old: StoredWebhook = serde_json::from_str(old).unwrap();
        assert_eq!(since(&old), [Some(i64::MIN), None], "one without times and switch is told of all");
    }

    #[test]
    fn the_secret_is_shown_only_if_asked_for_and_never_logged() {
        let webhook = made(json!({ "url": "https://example.com/?key=k1" }), false).unwrap();
        assert!(webhook.secret.starts_with("whsec_"));
        let shown = serde_json::to_value(Webhook::of(&webhook, true)).unwrap();
        assert_eq!((&shown["secret"], &shown["enabled"]), (&json!(webhook.secret), &json!(true)));
        let hidden = serde_json::to_value(Webhook::of(&webhook, false)).unwrap();
        assert_eq!((hidden.get("secret"), &hidden["url"]), (None, &json!("https://example.com/?key=k1")));
        let logged = format!("{webhook:?}");
        assert!(!logged.contains(&webhook.secret) && !logged.contains("k1"), "{logged}");
    }
}
