//! Asking a person before a call is made.
//!
//! A [`Request`] is one call that waits. The [`Desk`] of a space puts it before a person through a [`Channel`] and
//! gives the [`Outcome`]; the [`Pending`] of a run bounds how many wait and remembers what was approved for longer
//! than one call. Nothing here makes the call, and nothing here knows policies.
//!
//! A decision is bound to the exact call by the [`digest`] of its canonical arguments. What nobody decided, what was
//! decided too late and what cannot be verified is not approved.
//!
//! # Layout
//! - `request`, `decision`, `channel`: what is asked, what is answered, and the trait between them.
//! - `desk`, `pending`: one outcome to a request; the requests of a run.
//! - `canonical`: one text for equal arguments, and its digest.
//! - `template`: the message of a definition, filled in.
//! - `plain`, `times`: text and times as people are shown them.
//! - `terminal`: a prompt on the terminal of this process.
//! - `pipe`: lines of JSON from another program.
//! - `store`: files that another process of the same user decides, signed with an approver's token.

mod canonical;
mod channel;
mod decision;
mod desk;
mod pending;
mod pipe;
mod plain;
mod request;
mod store;
pub mod template;
mod terminal;
mod times;

pub use canonical::{canonical, digest};
pub use channel::{Answer, Channel, ChannelError};
pub use decision::{Decision, Lasts, Verdict};
pub use desk::{Desk, Outcome};
pub use pending::{MAX_PENDING, Pending};
pub use pipe::PipeChannel;
pub use request::{MAX_MESSAGE, Question, Request};
pub use store::{ApproverKey, ApproverToken, Listing, Store, StoreChannel, StoreError};
pub use terminal::{TerminalChannel, pretty};

#[cfg(test)]
mod fixtures;
