//! How a person is asked.

use crate::decision::Decision;
use crate::request::Request;
use std::pin::Pin;
use std::sync::Arc;

/// What will be decided.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Decision, ChannelError>> + Send + 'a>>;

/// A way to a person.
pub trait Channel: Send + Sync {
    /// Puts a request before a person. A decision that is made as soon as this has returned counts, though nobody
    /// has polled the future yet. Dropping the future withdraws the request: its prompt or file disappears.
    fn ask(&self, request: Arc<Request>) -> Answer<'_>;

    /// Whether there is somebody to ask at this time.
    fn has_somebody(&self) -> bool {
        true
    }

    /// The decision came after the request had expired, and does not count: for telling whoever made it.
    fn too_late(&self, _request: &Request) {}
}

/// Why a channel gave no decision.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// There is nobody to ask, or there no longer is.
    #[error("{0}")]
    Nobody(String),
    /// The time in which it could be decided is over.
    #[error("the request has expired")]
    Expired,
}
