//! Error of a space that cannot be served.

use agent_spaces_project::ProjectError;
use agent_spaces_search::IndexError;

/// Error of [`Offers::put`](crate::Offers::put).
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// A definition cannot be used.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The search index cannot be built.
    #[error(transparent)]
    Index(#[from] IndexError),
}
