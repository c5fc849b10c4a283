//! Byte limit of one call: the size of its arguments, and of its answer.

use super::{Limit, Reached};
use crate::code::Code;
use serde_json::Value;

pub(super) const CODE: Code = Code::LimitBytes;
pub(super) const ADVICE: &str = "Pass or ask for less at one time, such as a page";

/// Larger than any reasonable message, small beside a run's memory.
pub(super) const DEFAULT: u64 = 16 << 20;

/// Factor by which lifted values may exceed the JSON byte limit: lists and records of dynamic values take extra memory.
/// It bounds what the host allocates before the exact size is known.
pub const DYNAMIC_VALUE_OVERHEAD: u64 = 8;

pub(super) fn message(allowed: u64) -> String {
    format!("A call carries more than {allowed} bytes, or more values than the host has memory for")
}

/// Byte limit of each call in either direction, and the totals of all calls.
#[derive(Debug)]
pub struct BytesLimit {
    allowed: u64,
    sent: u64,
    received: u64,
}

impl BytesLimit {
    /// Creates a limit of `allowed` bytes per call.
    pub fn new(allowed: u64) -> BytesLimit {
        BytesLimit { allowed, sent: 0, received: 0 }
    }

    /// Counts a call's arguments, or refuses them if they are too large.
    pub fn send(&mut self, bytes: u64) -> Result<(), Reached> {
        self.sent += self.check(bytes)?;
        Ok(())
    }

    /// Counts a call's answer, or refuses it if it is too large.
    pub fn receive(&mut self, bytes: u64) -> Result<(), Reached> {
        self.received += self.check(bytes)?;
        Ok(())
    }

    /// Maximum bytes of one call.
    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    fn check(&self, bytes: u64) -> Result<u64, Reached> {
        if bytes > self.allowed { Err(Reached(Limit::Bytes)) } else { Ok(bytes) }
    }

    /// Total bytes from the script to capabilities.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Total bytes from capabilities to the script.
    pub fn received(&self) -> u64 {
        self.received
    }
}

/// Estimates the length of the value's JSON text.
pub fn text_bytes(value: &Value) -> u64 {
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
