//! Audit log, as the server gives it, and the actions of callers that are written to it.
//!
//! - `log`: the log, as the server gives it
//! - `action`: entries of actions

mod action;
mod log;

pub use action::ApiAction;
pub(crate) use action::{Action, Subject};
pub use log::{
    AuditFault, AuditLimits, AuditLine, AuditLines, AuditLog, AuditPosition, AuditVerdict, AuditVerification, Auditing,
};
