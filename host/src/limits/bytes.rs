//! Size of one call.

use super::{Limit, Reached};
use serde_json::Value;

pub(super) const CODE: &str = "limit.bytes";
pub(super) const ADVICE: &str = "Pass or ask for less at one time, such as a page";

/// More than any message is for, little beside what a run may hold.
pub(super) const DEFAULT: u64 = 16 << 20;

/// A guest may pass more than its bytes of JSON say: lists and records of dynamic values take room of
/// their own. This bounds what the host allocates before the exact size is known.
pub(crate) const DYNAMIC_VALUE_OVERHEAD: u64 = 8;

pub(super) fn message(allowed: u64) -> String {
    format!("A call carries more than {allowed} bytes, or more values than the host has memory for")
}

/// How much a call may carry in either direction, and how much all of them did.
#[derive(Debug)]
pub(crate) struct BytesLimit {
    allowed: u64,
    sent: u64,
    received: u64,
}

impl BytesLimit {
    pub(crate) fn new(allowed: u64) -> BytesLimit {
        BytesLimit { allowed, sent: 0, received: 0 }
    }

    /// Takes note of a call's arguments, unless they are too large.
    pub(crate) fn send(&mut self, bytes: u64) -> Result<(), Reached> {
        self.sent += self.check(bytes)?;
        Ok(())
    }

    /// Takes note of a call's answer, unless it is too large.
    pub(crate) fn receive(&mut self, bytes: u64) -> Result<(), Reached> {
        self.received += self.check(bytes)?;
        Ok(())
    }

    /// The most that a call may carry.
    pub(crate) fn allowed(&self) -> u64 {
        self.allowed
    }

    fn check(&self, bytes: u64) -> Result<u64, Reached> {
        if bytes > self.allowed { Err(Reached(Limit::Bytes)) } else { Ok(bytes) }
    }

    /// From the script to capabilities.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// From capabilities to the script.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }
}

/// About the length of the value's JSON text.
pub(crate) fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => 2 + items.iter().map(|item| text_bytes(item) + 1).sum::<u64>(),
        Value::Object(members) => {
            2 + members.iter().map(|(name, member)| name.len() as u64 + 4 + text_bytes(member)).sum::<u64>()
        }
    }
}
