//! Resource limits of a run, one file per limit.
//!
//! Every limit has a default with its reason, an error code of its own, and a message that names the limit. A limit
//! that is reached ends the run; the script cannot catch it.

mod bytes;
mod calls;
mod console;
mod failures;
mod fuel;
mod in_flight;
mod memory;
mod result;
mod source;
mod stack;
mod time;

pub use bytes::{BytesLimit, DYNAMIC_VALUE_OVERHEAD, text_bytes};
pub use calls::CallLimit;
pub use console::ConsoleLimit;
pub use failures::FailureLimit;
pub use fuel::{METER_SLICE, YIELD_INTERVAL};
pub use in_flight::{InFlightLimit, handles};
pub use memory::MemoryLimit;
pub use source::{CODE as SOURCE_LIMIT, DEFAULT_SCRIPT_BYTES, message as source_message};

use crate::code::Code;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Resource limits of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Fuel, some units for each operation of a script and each turn of a loop in the engine; none is consumed while the run waits.
    pub fuel: u64,
    /// Bytes of linear memory, the engine's own included.
    pub memory: u64,
    /// Wall-clock time, waiting for calls included.
    pub time: Duration,
    /// Bytes of the result's JSON text.
    pub result: u64,
    /// Bytes of console output.
    pub console: u64,
    /// Calls of capability functions.
    pub calls: u64,
    /// Concurrent calls.
    pub in_flight: u64,
    /// Bytes of one call's arguments, or of its answer.
    pub call_bytes: u64,
    /// Consecutive failed calls.
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

/// Kind of resource limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Limit {
    /// Fuel.
    Fuel,
    /// Linear memory.
    Memory,
    /// Wall-clock time.
    Time,
    /// Stack depth.
    Stack,
    /// Size of the result.
    Result,
    /// Size of the console output.
    Console,
    /// Number of calls.
    Calls,
    /// Number of concurrent calls.
    InFlight,
    /// Size of one call's arguments or answer.
    Bytes,
    /// Number of consecutive failed calls.
    Failures,
    /// Size of the source.
    Source,
}

impl Limit {
    /// Returns the error code: `limit.fuel`.
    pub fn code(self) -> Code {
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

    /// Returns the error message, with the limit's value.
    pub fn message(self, limits: &Limits) -> String {
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

    /// Returns the suggested fix as a sentence.
    pub fn hint(self) -> String {
        format!("{}.", self.advice())
    }

    /// Returns the suggested fix for the script's author, without a full stop.
    pub fn advice(self) -> &'static str {
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

    /// Returns the limit with this error code.
    pub fn from_code(code: &str) -> Option<Limit> {
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

/// Error that a limit was reached. It ends the run from wherever it is returned.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{}", .0.code())]
pub struct Reached(pub Limit);

/// Maximum linear memory of a run: the slot size of the engine's instance pool.
pub const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// A limit above what the engine supports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("memory of {asked} bytes exceeds the maximum of {MAX_MEMORY_BYTES} for a run")]
pub struct LimitTooHigh {
    asked: u64,
}

impl Limits {
    /// Returns the lower of both limits, each by itself.
    #[must_use]
    pub fn at_most(&self, other: &Limits) -> Limits {
        Limits {
            fuel: self.fuel.min(other.fuel),
            memory: self.memory.min(other.memory),
            time: self.time.min(other.time),
            result: self.result.min(other.result),
            console: self.console.min(other.console),
            calls: self.calls.min(other.calls),
            in_flight: self.in_flight.min(other.in_flight),
            call_bytes: self.call_bytes.min(other.call_bytes),
            failures: self.failures.min(other.failures),
            source: self.source.min(other.source),
        }
    }

    /// Refuses limits above what the engine supports.
    pub fn check(&self) -> Result<(), LimitTooHigh> {
        match self.memory > MAX_MEMORY_BYTES {
            true => Err(LimitTooHigh { asked: self.memory }),
            false => Ok(()),
        }
    }
}
