//! Bounds on what a provider may send. Each is far above what providers do, and keeps one answer from filling the
//! memory of the host.

/// Bytes of text, reasoning and arguments of one answer together. The largest models write at most some 128,000 tokens,
/// about half a megabyte.
pub const MAX_ANSWER: usize = 8 << 20;
/// Bytes of one event of a stream. An event may hold the whole answer once more (`response.completed`).
pub const MAX_EVENT: usize = 16 << 20;
/// Bytes of a whole answer that is not streamed.
pub const MAX_BODY: usize = 32 << 20;
/// Bytes of a stream with its framing. Deltas of one token carry some 300 bytes each.
pub const MAX_STREAM: usize = 256 << 20;
/// Bytes of the body of a refusal that are read.
pub const MAX_ERROR_BODY: usize = 64 << 10;
/// Bytes of a provider's own words in an error message.
pub const MAX_ERROR_TEXT: usize = 1 << 10;
/// Calls in one answer.
pub const MAX_CALLS: usize = 128;
/// Parts of one answer.
pub const MAX_PARTS: usize = 4096;
/// Bytes of an id or a name of a call. Ids of some providers hold signatures.
pub const MAX_ID: usize = 4 << 10;
/// Nesting of arguments and of events.
pub const MAX_DEPTH: usize = 128;
/// Longest wait that a provider may ask for.
pub const MAX_RETRY_AFTER: std::time::Duration = std::time::Duration::from_secs(24 * 3600);
