//! Memory that the instances of a program start from. `crate::snapshot` takes it.

/// Difference between the memory of an engine and that of a fresh one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub(crate) pages: u64,
    pub(crate) pieces: Vec<(u32, Vec<u8>)>,
}

impl Snapshot {
    /// Returns the memory size in pages.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns addresses, and the bytes to copy there.
    pub fn pieces(&self) -> &[(u32, Vec<u8>)] {
        &self.pieces
    }
}
