//! Where calls are accounted for.

use super::reader::{Node, Result};

/// Where an entry for every call is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounting {
    /// A file of one JSON object to a line.
    pub file: String,
}

impl Accounting {
    pub(super) fn read(node: Node<'_>) -> Result<Accounting> {
        let object = node.object("an object with a `file`", &["file"])?;
        Ok(Accounting { file: object.need("file", |node| node.filled_text("a path").map(str::to_owned))? })
    }
}
