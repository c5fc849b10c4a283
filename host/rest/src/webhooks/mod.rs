//! Webhooks: addresses that are told of ended runs and of calls that need approval, as Standard Webhooks describes it.
//!
//! A message is stored before it is sent, so that it outlives the process. Its id is made of what happened, so that it is
//! stored once, whoever notices the event and however often. It is sent at least once: whoever receives it knows a
//! repeated one by its id.
//!
//! - `payload`: bodies of messages
//! - `delivery`: messages in the store
//! - `notice`: what happens to runs becomes messages; `sweep`: also what nobody noticed
//! - `send`: requests to the addresses; `retry`: their results

mod delivery;
mod notice;
mod payload;
mod retry;
mod send;
mod sweep;
#[cfg(test)]
mod tests;
