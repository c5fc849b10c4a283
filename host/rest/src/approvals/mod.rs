//! Approvals: calls that wait for a person, and decisions.
//!
//! - `stored`: approvals of runs, in the store; `in_memory`: those of agents; `view`: both in responses
//! - `list`: one page of both
//! - `decision`: decisions in requests
//! - `routes`: requests

mod decision;
mod in_memory;
mod list;
mod routes;
mod stored;
mod view;

pub(crate) use routes::router;
pub(crate) use stored::StoredApproval;
pub(crate) use view::ApprovalView;
