//! Webhooks of spaces, in requests, responses and the store. `webhooks` sends their messages.
//!
//! - `types`: webhooks; `signature`: their secrets, and signatures of messages
//! - `queue`: messages that this process knows

mod queue;
pub(crate) mod signature;
mod types;

pub(crate) use queue::Deliveries;
pub(crate) use types::{NewWebhook, StoredWebhook, Webhook, WebhookEvent};
