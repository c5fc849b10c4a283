//! Source position: line and column.

use serde::{Deserialize, Serialize};

/// Position in the original source, as its author sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// 1-based; lines end at `\n`, `\r\n` or a lone `\r`.
    pub line: u32,
    /// 1-based, in Unicode code points. A byte order mark has no column.
    pub column: u32,
}
