//! Documents of spaces in the store: `spaces` writes them, `webhooks` reads the webhooks in them.

/// Kind of the documents.
pub(crate) const KIND: &str = "space";

/// Prefix of the ids.
pub(crate) const PREFIX: &str = "spc_";
