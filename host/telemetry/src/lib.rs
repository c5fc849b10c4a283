//! Telemetry of a host: spans, trace context, metrics and structured logs.
//!
//! Spans are `tracing` spans of one target, [`names::TARGET`], and allocate nothing without a subscriber. They contain
//! names, numbers and codes, never arguments, answers, secrets or texts of scripts. A replay of a durable run emits
//! nothing again: calls that the journal answers have no span, and their events reach no observer.
//!
//! # Layout
//! - [`names`]: names of spans and attributes, by the conventions of OpenTelemetry
//! - [`spans`]: the spans of a request, a run, a call, an approval and a request to an MCP server
//! - [`context`]: W3C trace context, from requests and for requests
//! - `metrics` (feature `metrics`): the registry, fed by events
//! - `log` (feature `log`): structured logs on stderr
//! - `otlp` (feature `otlp`): export of spans over OTLP/HTTP
//! - `init` (feature `log`): the subscriber of a process

pub mod context;
#[cfg(feature = "log")]
pub mod init;
#[cfg(feature = "log")]
mod layer;
#[cfg(feature = "log")]
pub mod log;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod names;
#[cfg(feature = "otlp")]
pub mod otlp;
pub mod spans;

#[cfg(feature = "log")]
pub use init::{Guard, InitError, Settings, init};
#[cfg(feature = "log")]
pub use layer::BoxedLayer;

#[cfg(test)]
#[cfg(feature = "otlp")]
mod trace_tests;
