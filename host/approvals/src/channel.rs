//! Trait of channels that ask a person.

use crate::decision::Decision;
use crate::request::Request;
use std::pin::Pin;
use std::sync::Arc;

/// Future of a decision.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Decision, ChannelError>> + Send + 'a>>;

/// Future of a decision that may have been made before.
pub type EarlierDecision<'a> = Pin<Box<dyn Future<Output = Option<Decision>> + Send + 'a>>;

/// Channel that asks a person.
pub trait Channel: Send + Sync {
    /// Sends a request to a person. A decision counts from the moment this returns, even before the future is polled.
    /// Dropping the future withdraws the request: its prompt or file disappears.
    fn ask(&self, request: Arc<Request>) -> Answer<'_>;

    /// Returns the decision on a request that was asked before, by a process that ended meanwhile. It counts if it was
    /// made in time, however late it is read.
    fn decided_before<'a>(&'a self, _request: &'a Request) -> EarlierDecision<'a> {
        Box::pin(std::future::ready(None))
    }

    /// True if there is currently a person to ask.
    fn has_somebody(&self) -> bool {
        true
    }

    /// Called when a decision arrives after the request expired and is ignored, so that the channel can say so.
    fn too_late(&self, _request: &Request) {}
}

/// Reason why a channel returned no decision.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// No person can be asked, or no longer.
    #[error("{0}")]
    Nobody(String),
    /// The request expired.
    #[error("the request has expired")]
    Expired,
}
