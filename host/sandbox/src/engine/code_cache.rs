//! `CodeCache`: the trait of a persistent cache of compiled code.

use std::fmt;

/// Key of compiled code: a hash of its inputs.
pub type CodeKey = [u8; 32];

/// Cache of compiled code. Its entries are run as native code: it must return only what this program stored.
pub trait CodeCache: fmt::Debug + Send + Sync {
    /// Loads the code stored for a key.
    fn load(&self, key: &CodeKey) -> Option<Vec<u8>>;

    /// Stores code for a key. Failures are ignored: they only cost time.
    fn store(&self, key: &CodeKey, code: &[u8]);
}
