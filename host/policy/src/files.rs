//! Access of scripts to the files of their workspace.

/// Access of scripts to the files of their workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePolicy {
    /// Files may be read and listed.
    pub read: bool,
    /// Files may be created, written and deleted.
    pub write: bool,
    /// The largest file that may be read or written.
    pub max_file_bytes: u64,
    /// Total size limit of the workspace.
    pub max_total_bytes: u64,
}
