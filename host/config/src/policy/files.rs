//! File settings (`policy.fs`) of the workspace.

use super::super::quantity::read_bytes;
use super::super::reader::{Node, Result};
use agent_spaces_policy::FileSettings;

pub(super) fn read(node: Node<'_>) -> Result<FileSettings> {
    let object = node.object("an object of settings for files", &["read", "write", "maxFileBytes", "maxTotalBytes"])?;
    let size = |node: Node<'_>| read_bytes(node, 1, u64::MAX);
    Ok(FileSettings {
        read: object.read("read", |node| node.flag())?,
        write: object.read("write", |node| node.flag())?,
        max_file_bytes: object.read("maxFileBytes", size)?,
        max_total_bytes: object.read("maxTotalBytes", size)?,
    })
}
