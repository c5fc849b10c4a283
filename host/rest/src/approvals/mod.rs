//! Approvals: calls that wait for a person, and decisions.
//!
//! - `stored`: approvals in the store; `view`: in responses
//! - `decision`: decisions in requests
//! - `routes`: requests

mod decision;
mod routes;
mod stored;
mod view;

pub(crate) use routes::router;
pub(crate) use stored::StoredApproval;
pub(crate) use view::ApprovalView;
