//! Limits of what a provider may send. Each is far above real answers, and keeps one answer from exhausting the memory
//! of the host.

use std::time::Duration;

/// Bytes of text, reasoning and arguments of one answer together. The largest models write at most some 128,000 tokens,
/// about half a megabyte.
pub const MAX_ANSWER: usize = 8 << 20;
/// Bytes of one event of a stream. An event may hold the whole answer once more (`response.completed`).
pub const MAX_EVENT: usize = 16 << 20;
/// Bytes of a whole answer that is not streamed.
pub const MAX_BODY: usize = 32 << 20;
/// Bytes of a stream with its framing. Deltas of one token carry some 300 bytes each.
pub const MAX_STREAM: usize = 256 << 20;
/// Longest time of a stream, unless the timeout of the provider is longer. A server that sends keep-alive comments
/// forever never exceeds the timeout of a chunk.
pub const MAX_STREAM_TIME: Duration = Duration::from_secs(3600);
/// Bytes that are read of the body of an HTTP error.
pub const MAX_ERROR_BODY: usize = 64 << 10;
/// Bytes of a provider's message inside an error message.
pub const MAX_ERROR_TEXT: usize = 1 << 10;
/// Tool calls in one answer.
pub const MAX_CALLS: usize = 128;
/// Parts of one answer.
pub const MAX_PARTS: usize = 4096;
/// Bytes of the id or name of a tool call. Some providers put signatures into ids.
pub const MAX_ID: usize = 4 << 10;
/// JSON nesting depth of arguments and of events.
pub const MAX_DEPTH: usize = 128;
/// Longest `retry-after`.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);
