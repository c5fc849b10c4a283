//! What a run may use, one file to a cap.
//!
//! Every cap has a default with its reason, a code of its own, and a message that says what was
//! allowed. A cap that is reached ends the run, whatever the script catches.

mod bytes;
mod calls;
mod console;
mod failures;
mod fuel;
mod host_memory;
mod in_flight;
mod memory;
mod result;
mod source;
mod stack;
mod time;

pub(crate) use bytes::{BytesLimit, DYNAMIC_VALUE_OVERHEAD, text_bytes};
pub(crate) use calls::CallLimit;
pub(crate) use console::ConsoleLimit;
pub(crate) use failures::FailureLimit;
pub(crate) use fuel::YIELD_INTERVAL;
pub use host_memory::RunMemory;
pub(crate) use host_memory::{CallMemory, HostMemory, SandboxKind, SandboxMemory, message as host_memory_message};
pub(crate) use in_flight::{InFlightLimit, handles};
pub(crate) use memory::MemoryLimit;
#[cfg(feature = "compiler")]
pub(crate) use source::{CODE as SOURCE_LIMIT, message as source_message};

use crate::error::HostError;
use agent_spaces_prebuilt_engine::config::MAX_MEMORY_BYTES;
use serde::Serialize;
use std::time::Duration;

/// What one run may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of work, roughly one to a wasm instruction; does not tick while the run waits.
    pub fuel: u64,
    /// Bytes of linear memory, the engine's own included.
    pub memory: u64,
    /// Wall-clock time, waiting for calls included.
    pub time: Duration,
    /// Bytes of the value's JSON text.
    pub result: u64,
    /// Bytes of console output.
    pub console: u64,
    /// Calls of capability functions.
    pub calls: u64,
    /// Calls that wait for their answer at one time.
    pub in_flight: u64,
    /// Bytes of one call's arguments, or of its answer.
    pub call_bytes: u64,
    /// Calls that fail one after the other.
    pub failures: u64,
    /// Bytes of the script and the files that it imports, together.
    pub source: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            fuel: fuel::DEFAULT,
            memory: memory::DEFAULT,
            time: time::DEFAULT,
            result: result::DEFAULT,
            console: console::DEFAULT,
            calls: calls::DEFAULT,
            in_flight: in_flight::DEFAULT,
            call_bytes: bytes::DEFAULT,
            failures: failures::DEFAULT,
            source: source::DEFAULT,
        }
    }
}

/// A cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Limit {
    /// Units of work.
    Fuel,
    /// Linear memory.
    Memory,
    /// Wall-clock time.
    Time,
    /// Depth of calls.
    Stack,
    /// Size of the value.
    Result,
    /// Size of the console output.
    Console,
    /// Number of calls.
    Calls,
    /// Number of calls at one time.
    InFlight,
    /// Size of one call.
    Bytes,
    /// Number of calls that fail one after the other.
    Failures,
    /// Size of the source.
    Source,
}

impl Limit {
    /// The code that errors carry: `limit.fuel`.
    pub fn code(self) -> &'static str {
        match self {
            Limit::Fuel => fuel::CODE,
            Limit::Memory => memory::CODE,
            Limit::Time => time::CODE,
            Limit::Stack => stack::CODE,
            Limit::Result => result::CODE,
            Limit::Console => console::CODE,
            Limit::Calls => calls::CODE,
            Limit::InFlight => in_flight::CODE,
            Limit::Bytes => bytes::CODE,
            Limit::Failures => failures::CODE,
            Limit::Source => source::CODE,
        }
    }

    /// What happened, and what was allowed.
    pub(crate) fn message(self, limits: &Limits) -> String {
        match self {
            Limit::Fuel => fuel::message(limits.fuel),
            Limit::Memory => memory::message(limits.memory),
            Limit::Time => time::message(limits.time),
            Limit::Stack => stack::message(),
            Limit::Result => result::message(limits.result),
            Limit::Console => console::message(limits.console),
            Limit::Calls => calls::message(limits.calls),
            Limit::InFlight => in_flight::message(limits.in_flight),
            Limit::Bytes => bytes::message(limits.call_bytes),
            Limit::Failures => failures::message(limits.failures),
            Limit::Source => source::message(limits.source),
        }
    }

    /// What who runs a script can do about it.
    pub(crate) fn hint(self) -> String {
        let advice = self.advice();
        match self {
            Limit::Fuel => format!("{advice}, or raise the limit with --fuel."),
            Limit::Memory => format!("{advice}, or raise the limit with --memory."),
            Limit::Time => format!("{advice}, or raise the limit with --timeout."),
            _ => format!("{advice}."),
        }
    }

    /// What the script's author can do about it, without a full stop.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Limit::Fuel => fuel::ADVICE,
            Limit::Memory => memory::ADVICE,
            Limit::Time => time::ADVICE,
            Limit::Stack => stack::ADVICE,
            Limit::Result => result::ADVICE,
            Limit::Console => console::ADVICE,
            Limit::Calls => calls::ADVICE,
            Limit::InFlight => in_flight::ADVICE,
            Limit::Bytes => bytes::ADVICE,
            Limit::Failures => failures::ADVICE,
            Limit::Source => source::ADVICE,
        }
    }

    /// The cap with this code.
    pub(crate) fn from_code(code: &str) -> Option<Limit> {
        const ALL: [Limit; 11] = [
            Limit::Fuel,
            Limit::Memory,
            Limit::Time,
            Limit::Stack,
            Limit::Result,
            Limit::Console,
            Limit::Calls,
            Limit::InFlight,
            Limit::Bytes,
            Limit::Failures,
            Limit::Source,
        ];
        ALL.into_iter().find(|limit| limit.code() == code)
    }
}

/// That a cap was reached; ends the run from wherever it is returned.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{}", .0.code())]
pub(crate) struct Reached(pub(crate) Limit);

impl Limits {
    /// Refuses what no run can be given.
    pub fn check(&self) -> Result<(), HostError> {
        if self.memory > MAX_MEMORY_BYTES {
            let message =
                format!("memory of {} bytes is more than the {MAX_MEMORY_BYTES} that a run can have", self.memory);
            return Err(HostError::Limits(message));
        }
        Ok(())
    }
}
