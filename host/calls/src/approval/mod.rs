//! Approval requests of one run, and the decisions about them.
//!
//! - [`request`]: one call that waits for a decision; [`decision`]: the decision
//! - [`pending`]: the requests of a run that wait, and approvals that cover later calls
//! - [`times`]: RFC 3339 times in requests

pub mod decision;
pub mod pending;
pub mod request;
pub mod times;

pub use decision::{Decision, Lasts, Verdict};
pub use pending::{MAX_PENDING, Pending};
pub use request::{MAX_MESSAGE, Question, Request};
