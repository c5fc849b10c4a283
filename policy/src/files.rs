//! What scripts may do with the files of their workspace.

/// What scripts may do with the files of their workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePolicy {
    /// Whether files may be read and listed.
    pub read: bool,
    /// Whether files may be written, made and removed.
    pub write: bool,
    /// The largest file that may be read or written.
    pub max_file_bytes: u64,
    /// How much the whole workspace may hold.
    pub max_total_bytes: u64,
}
