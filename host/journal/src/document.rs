//! Documents: small JSON texts with an owner and a version, for what a host keeps besides runs.
//!
//! The store gives them no meaning. A kind, such as `space`, is a namespace of ids. One that expired stays, and is read,
//! until a prune: whoever reads it decides.

use crate::error::StoreError;

/// Most bytes of a kind: a word in a program.
pub const MAX_KIND: usize = 32;

/// Most bytes of an id: a name that a person gave, or a hash with a prefix. It is in every index.
pub const MAX_ID: usize = 256;

/// Most bytes of an owner, which is in an index too.
pub const MAX_OWNER: usize = 256;

/// Most bytes of a body: a program's source fits, and a page of a hundred fits the memory of a host. Larger data are
/// blobs or files.
pub const MAX_BODY: usize = 1 << 20;

/// Document as it was read. Times are in milliseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Namespace of its id.
    pub kind: String,
    /// Its id, unique among those of its kind.
    pub id: String,
    /// Whose it is; empty for the operator.
    pub owner: String,
    /// JSON text.
    pub body: String,
    /// Number of times that it was stored, from 1. One that was deleted begins again.
    pub version: u64,
    /// Time of its first version. With the id it is the position in lists, which later versions keep.
    pub created: i64,
    /// Time of this version.
    pub updated: i64,
    /// Time after which a prune removes it; `None` for never.
    pub expires: Option<i64>,
}

impl Document {
    /// Returns the bytes of its text.
    pub fn bytes(&self) -> u64 {
        (self.kind.len() + self.id.len() + self.owner.len() + self.body.len()) as u64
    }
}

/// Document to store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewDocument {
    /// Namespace of its id: 1 to [`MAX_KIND`] letters `a` to `z` and `_`.
    pub kind: String,
    /// Its id: 1 to [`MAX_ID`] bytes without control characters.
    pub id: String,
    /// Whose it is: at most [`MAX_OWNER`] bytes without control characters; empty for the operator.
    pub owner: String,
    /// JSON text of at most [`MAX_BODY`] bytes. The store does not parse it.
    pub body: String,
    /// Time after which a prune removes it, in milliseconds since the Unix epoch; `None` for never.
    pub expires: Option<i64>,
}

impl NewDocument {
    /// Returns the bytes of its text.
    pub fn bytes(&self) -> u64 {
        (self.kind.len() + self.id.len() + self.owner.len() + self.body.len()) as u64
    }

    /// Checks names and sizes. Stores call it before they queue the write.
    pub fn check(&self) -> Result<(), StoreError> {
        let is_kind = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        if self.kind.is_empty() || self.kind.len() > MAX_KIND || !self.kind.bytes().all(is_kind) {
            return Err(refused("kind", &self.kind, &format!("1 to {MAX_KIND} characters of a-z and _")));
        }
        if self.id.is_empty() || !is_name(&self.id, MAX_ID) {
            return Err(refused("id", &self.id, &format!("1 to {MAX_ID} bytes without control characters")));
        }
        if !is_name(&self.owner, MAX_OWNER) {
            let rule = format!("at most {MAX_OWNER} bytes without control characters");
            return Err(refused("owner", &self.owner, &rule));
        }
        if self.body.len() > MAX_BODY {
            let (kind, length) = (&self.kind, self.body.len());
            return Err(StoreError::Invalid(format!(
                "document of kind {kind}: its body has {length} bytes, the limit is {MAX_BODY}"
            )));
        }
        Ok(())
    }
}

fn is_name(text: &str, most: usize) -> bool {
    text.len() <= most && !text.chars().any(char::is_control)
}

fn refused(part: &str, text: &str, rule: &str) -> StoreError {
    let start: String = text.chars().take(40).collect();
    StoreError::Invalid(format!("{start:?} is no {part} of a document: it has {rule}"))
}

/// Condition of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There is no document with this id. One that expired is there until it is pruned or deleted.
    Absent,
    /// There is one with this version.
    Version(u64),
    /// Whatever is there is replaced.
    Any,
}

/// Effect of a put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It was stored; this is how.
    Stored(Document),
    /// Nothing was stored: this one is there instead of what was expected.
    Conflict(Document),
    /// Nothing was stored: a version was expected, and no document is there.
    Missing,
}

/// Selection of documents of one kind, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Their kind.
    pub kind: String,
    /// Only those of this owner.
    pub owner: Option<String>,
    /// Only documents before this one in the list: its time of creation and id, for the next page.
    pub before: Option<(i64, String)>,
    /// Only those that expired before this time, in milliseconds since the Unix epoch.
    pub expired_before: Option<i64>,
    /// Most documents.
    pub limit: usize,
}

impl DocumentFilter {
    /// Returns the filter of all documents of a kind, a hundred at a time.
    pub fn of(kind: impl Into<String>) -> DocumentFilter {
        DocumentFilter { kind: kind.into(), owner: None, before: None, expired_before: None, limit: 100 }
    }
}
