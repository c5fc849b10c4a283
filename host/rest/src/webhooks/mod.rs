//! Webhooks: HTTP callbacks about ended runs and calls that need approval, as defined by Standard Webhooks.
//!
//! A message is stored before it is sent, so that it outlives the process. Its id is derived from the event, so that it
//! is stored once, also if several hosts notice the event. It is sent at least once: receivers detect a repeated one by
//! its id.
//!
//! Nothing here knows the service or its spaces, except for the member of a space's document that is its webhook:
//! `spaces` has the requests that make and change it.
//!
//! - `types`: webhooks in requests and responses; `record`: in the store; `subscriber`: those subscribed to an event
//! - `signature`: secrets, and signatures of messages; `payload`: bodies of messages
//! - `stored_messages`: messages in the store; `queue`: those that this process knows
//! - `notice`: conversion of run events to messages; `sweep`: messages of missed events
//! - `send`: requests to the addresses; `retry`: their results
//! - `deliver`: shared state and background tasks, for the service

mod deliver;
mod notice;
mod payload;
mod queue;
mod record;
mod retry;
mod send;
mod signature;
mod stored_messages;
mod subscriber;
mod sweep;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use deliver::Webhooks;
pub(crate) use record::StoredWebhook;
pub(crate) use types::{NewWebhook, Webhook, WebhookChange};
