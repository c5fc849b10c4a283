//! Approval settings (`policy.approvals`).

use super::super::quantity::{read_count, read_duration};
use super::super::reader::{Node, Result};
use agent_spaces_policy::{ApprovalPolicy, ApprovalSettings};

pub(super) fn read(node: Node<'_>) -> Result<ApprovalSettings> {
    let object = node.object("an object of settings for approvals", &["expires", "countsTime", "maxPending"])?;
    Ok(ApprovalSettings {
        expires: object.read("expires", read_duration)?,
        counts_time: object.read("countsTime", |node| node.flag())?,
        max_pending: object.read("maxPending", |node| read_count(node, ApprovalPolicy::MAX_PENDING))?,
    })
}
