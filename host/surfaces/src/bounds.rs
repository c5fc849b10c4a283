//! Bounds on what callers may send.

use std::time::Duration;

/// Bytes of a body. Conversations of coding agents have some megabytes, and images.
pub(crate) const MAX_BODY: usize = 32 << 20;

/// Time in which a body has to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Bodies of all questions that are waiting or being answered, in KiB: 512 MiB.
pub(crate) const MAX_HELD_KIB: usize = 512 << 10;

/// Those of one caller, in KiB and in number: half of what all have, so that one caller leaves room for others.
pub(crate) const MAX_CALLER_HELD_KIB: usize = MAX_HELD_KIB / 2;
pub(crate) const MAX_CALLER_REQUESTS: usize = 500;

/// JSON values in a body: each takes some hundred bytes.
pub(crate) const MAX_VALUES: usize = 500_000;

/// Messages of a conversation.
pub(crate) const MAX_MESSAGES: usize = 10_000;

/// Parts of all messages together.
pub(crate) const MAX_PARTS: usize = 50_000;

/// Images of a conversation, and bytes of one in base64.
pub(crate) const MAX_IMAGES: usize = 100;
pub(crate) const MAX_IMAGE: usize = 16 << 20;

/// Tools of a caller. Providers refuse long lists by themselves.
pub(crate) const MAX_TOOLS: usize = 512;

/// Bytes of a description of a tool, and of its schema as JSON.
pub(crate) const MAX_DESCRIPTION: usize = 64 << 10;
pub(crate) const MAX_SCHEMA: usize = 256 << 10;

/// Bytes of an id or a name that a caller gives.
pub(crate) const MAX_ID: usize = 512;

/// Bytes of a query.
pub(crate) const MAX_QUERY: usize = 60 << 10;

/// Bytes of events that wait for a client to read them. A client that does not read ends its question.
pub(crate) const MAX_QUEUED: usize = 16 << 20;

/// Bytes of one frame of a stream.
pub(crate) const MAX_FRAME: usize = 64 << 10;

/// Interval of signs of life on a stream: clients and proxies close quiet connections after some 30 seconds at the least.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Time in which a question that fails is answered with an HTTP status instead of a stream.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Seconds after which a caller may try again when too many questions wait.
pub(crate) const RETRY_AFTER: u32 = 5;

/// Calls that wait for a person, of all callers and of one.
pub(crate) const MAX_APPROVALS: usize = 1_000;
pub(crate) const MAX_CALLER_APPROVALS: usize = 100;

/// Calls that were decided or withdrawn and are still known, of all callers and of one, and for how long.
pub(crate) const MAX_SETTLED: usize = 500;
pub(crate) const MAX_CALLER_SETTLED: usize = 100;
pub(crate) const SETTLED_TIME: Duration = Duration::from_secs(60 * 60);

/// Bytes of what is shown of a call that waits.
pub(crate) const MAX_SHOWN_CALL: usize = 64 << 10;

/// Bytes of what is shown of one text of a session.
pub(crate) const MAX_SHOWN_TEXT: usize = 64 << 10;

/// Time for a person to decide. The caller's client waits as long.
pub(crate) const APPROVAL_TIME: Duration = Duration::from_secs(5 * 60);
