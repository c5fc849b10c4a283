//! Human approval of calls (human-in-the-loop).
//!
//! A [`Request`] is one call that waits for approval. The [`Desk`] of a space sends it to a person through a
//! [`Channel`] and returns the [`Outcome`]; the [`Pending`] of a run limits how many wait and remembers approvals that
//! cover later calls. This crate neither makes calls nor knows policies.
//!
//! A decision is bound to the exact call by the [`digest`] of its canonical arguments. A call without a decision, with
//! a late one, or with one that fails verification is not approved.
//!
//! # Layout
//! - `channel`: the trait of a way to a person; `desk`: the outcome of a request.
//! - `template`: message templates of definitions.
//! - `text_layout`: wrapping of text.
//! - `terminal`: a prompt on the terminal of this process.
//! - `pipe`: decisions from another program as JSON Lines.
//! - `store`: file-based store, where another process of the same user decides with a signed decision.
//! - `waiting_calls`: the trait of calls that wait in memory, outside of runs that are kept.
//!
//! Requests, decisions and the pending requests of a run are `agent_spaces_calls::approval`'s.

mod channel;
mod desk;
mod pipe;
mod store;
pub mod template;
mod terminal;
mod text_layout;
mod waiting_calls;

pub use agent_spaces_calls::approval::{
    Decision, Lasts, MAX_MESSAGE, MAX_PENDING, Pending, Question, Request, Verdict,
};
pub use agent_spaces_types::canonical::{canonical, digest};
pub use channel::{Answer, Channel, ChannelError, EarlierDecision};
pub use desk::{Desk, Outcome};
pub use pipe::PipeChannel;
pub use store::{ApproverKey, ApproverToken, Listing, Store, StoreChannel, StoreError};
pub use terminal::{TerminalChannel, pretty};
pub use waiting_calls::{CallListener, NotWaiting, Settled, WaitingCall, WaitingCalls};

use agent_spaces_calls::approval::{decision, pending, request, times};
use agent_spaces_types::canonical;

#[cfg(test)]
mod fixtures;
