//! Webhooks: addresses that are told of ended runs and of calls that need approval, as Standard Webhooks describes it.
//!
//! A message is stored before it is sent, so that it outlives the process. Its id is made of what happened, so that it is
//! stored once, whoever notices the event and however often. It is sent at least once: whoever receives it knows a
//! repeated one by its id.
//!
//! Nothing here knows the service or its spaces, except for the member of a space's document that is its webhook:
//! `spaces` has the requests that make and change it.
//!
//! - `types`: webhooks in requests and responses; `record`: in the store; `subscriber`: those that are told of an event
//! - `signature`: secrets, and signatures of messages; `payload`: bodies of messages
//! - `stored_messages`: messages in the store; `queue`: those that this process knows
//! - `notice`: what happens to runs becomes messages; `sweep`: also what nobody noticed
//! - `send`: requests to the addresses; `retry`: their results
//! - `deliver`: all of it, for the service

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
