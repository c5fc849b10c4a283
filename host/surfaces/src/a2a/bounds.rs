//! Bounds on what callers may send, and on what is kept.

use std::time::Duration;

/// Parts of a message.
pub(super) const MAX_PARTS: usize = 64;

/// Bytes of text of a message: more than the context window of common models holds.
pub(super) const MAX_TEXT: usize = 4 << 20;

/// Images of a message, and bytes of one in base64.
pub(super) const MAX_IMAGES: usize = 16;
pub(super) const MAX_IMAGE: usize = 8 << 20;

/// Bytes of an id that a caller gives.
pub(super) const MAX_ID: usize = 256;

/// Bytes of a query.
pub(super) const MAX_QUERY: usize = 8_192;

/// Characters of an error that quotes a request.
pub(super) const MAX_FAULT: usize = 400;

/// Bytes of an answer that is kept. A document of the journal has at most one mebibyte.
pub(super) const MAX_ANSWER: usize = 512 << 10;

/// Bytes of the document that holds messages and answers, which is less than the journal allows.
pub(super) const MAX_CONTENT: usize = 1_000_000;

/// Messages of a task that are kept, bytes of one, and of a part of one.
pub(super) const MAX_HISTORY: usize = 50;
pub(super) const MAX_KEPT_MESSAGE: usize = 64 << 10;
pub(super) const MAX_KEPT_PART: usize = 16 << 10;

/// Bytes from which on a piece of an answer is sent: smaller ones would be envelopes for the most part.
pub(super) const MIN_PIECE: usize = 48;

/// Characters of a status message.
pub(super) const MAX_STATUS: usize = 16 << 10;

/// Bytes of a call that is shown to whoever approves it, and of all calls that are shown at once. They are in the document
/// of the task, which has at most one mebibyte.
pub(super) const MAX_SHOWN_CALL: usize = 32 << 10;
pub(super) const MAX_SHOWN_CALLS: usize = 128 << 10;

/// Calls of one task that wait for a person.
pub(super) const MAX_APPROVALS: usize = 100;

/// Tasks that are worked on at once or wait for their turn, of all callers and of one.
pub(super) const MAX_LIVE: usize = 1_000;
pub(super) const MAX_CALLER_LIVE: usize = 200;

/// Streams of one task.
pub(super) const MAX_STREAMS: usize = 32;

/// Events that wait for a client to read them. A stream whose client does not read ends.
pub(super) const MAX_QUEUED: usize = 1_024;

/// Interval of signs of life on a stream: clients and proxies close quiet connections.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Time that a cancelled question has to end.
pub(super) const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Time after which a task that its process does not renew has failed, and how often it is renewed.
pub(super) const LEASE: Duration = Duration::from_secs(30);
pub(super) const RENEWAL: Duration = Duration::from_secs(10);

/// Time that a task is kept after its last change.
pub(super) const TASK_LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Time that a context is kept after its last message: as long as the session behind it.
pub(super) const CONTEXT_LIFE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Tasks of one page of a list: least and most are of the protocol.
pub(super) const DEFAULT_PAGE: usize = 50;
pub(super) const MAX_PAGE: usize = 100;

/// Tasks of a caller that a list looks at, newest first.
pub(super) const MAX_LISTED: usize = 2_000;
