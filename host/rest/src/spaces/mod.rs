//! Spaces: those of the configuration, and those that callers make of them.
//!
//! - `record`: spaces in the store; `view`: spaces in requests and responses
//! - `assembly`: spaces that runs execute in; `pinned`: spaces whose files are on one host
//! - `routes`: requests; `webhook`: change of a space's webhook
//! - `removal`: end of a space, and of everything that it started; `workspaces`: removal of its files

mod assembly;
mod pinned;
mod record;
mod removal;
mod routes;
mod view;
mod webhook;
mod workspaces;

pub(crate) use record::{GivenPart, SpaceRecord};

use crate::service::Service;
use utoipa_axum::router::OpenApiRouter;

/// Returns the routes of spaces.
pub(crate) fn router() -> OpenApiRouter<Service> {
    routes::router().merge(webhook::router())
}
