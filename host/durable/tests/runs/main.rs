//! Durable runs in one process; those whose process dies are in `tests/crash/`.

#![allow(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod compare;
mod idempotency_keys;
mod recording;
mod spans;
mod stop;
mod support;
