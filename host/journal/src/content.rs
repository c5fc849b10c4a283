//! Content that runs need, such as programs: named by its hash, and stored once for all runs that have it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes and their hash. Clones share them, so a run that has the content of another costs no copy.
#[derive(Clone)]
pub struct Content(Arc<Shared>);

struct Shared {
    hash: String,
    bytes: Bytes,
    /// True if no queue counts the bytes any more.
    is_counted: AtomicBool,
}

enum Bytes {
    Owned(Arc<[u8]>),
    BuiltIn(&'static [u8]),
}

impl Content {
    /// Hashes bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Content {
        Content::of(Bytes::Owned(bytes.into()), false)
    }

    /// Hashes bytes that are part of the executable. They take no memory in a queue.
    pub fn built_in(bytes: &'static [u8]) -> Content {
        Content::of(Bytes::BuiltIn(bytes), true)
    }

    fn of(bytes: Bytes, is_counted: bool) -> Content {
        Content(Arc::new(Shared { hash: hash(bytes.get()), bytes, is_counted: AtomicBool::new(is_counted) }))
    }

    /// Returns the BLAKE3 hash, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.0.hash
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes.get()
    }

    /// Returns the bytes that a store counts in its queue: all of them the first time, then none, since clones share
    /// them. Otherwise a burst of runs of one program would fill the queue with bytes that are in memory once.
    pub fn count(&self) -> usize {
        match self.0.is_counted.swap(true, Ordering::Relaxed) {
            true => 0,
            false => self.bytes().len(),
        }
    }
}

impl Bytes {
    fn get(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::BuiltIn(bytes) => bytes,
        }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        self.hash() == other.hash()
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut content = formatter.debug_struct("Content");
        content.field("hash", &self.hash()).field("bytes", &self.bytes().len()).finish()
    }
}

/// Returns the hash that names content.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use crate::content::{Content, hash};

    #[test]
    fn clones_are_counted_once_and_built_in_bytes_never() {
        let content = Content::new(b"program".to_vec());
        let clone = content.clone();
        assert_eq!((content.count(), clone.count(), content.count()), (7, 0, 0));
        assert_eq!(Content::built_in(b"engine").count(), 0);
        assert_eq!((clone.bytes(), clone.hash()), (&b"program"[..], hash(b"program").as_str()));
        assert_ne!(content, Content::built_in(b"engine"));
    }
}
