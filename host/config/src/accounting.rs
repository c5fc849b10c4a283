//! Usage log settings (`accounting`).

use super::reader::{Node, Result};

/// Usage log settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounting {
    /// File of JSON lines, one per call.
    pub file: String,
}

impl Accounting {
    pub(super) fn read(node: Node<'_>) -> Result<Accounting> {
        let object = node.object("an object with a `file`", &["file"])?;
        Ok(Accounting { file: object.need("file", |node| node.filled_text("a path").map(str::to_owned))? })
    }
}
