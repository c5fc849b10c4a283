//! Language models over HTTP, in the wire formats of their providers.
//!
//! A [`Provider`] says where a model is and which format it speaks; [`Client::answer`] sends a [`Request`] and gives an
//! [`Answer`]. What arrives of a stream is told on the way ([`Delta`]). Everything that comes in is bounded ([`bounds`]),
//! and a stream without its end is a failure.
//!
//! # Layout
//! - `conversation`: [`Message`], [`Part`] and what they hold, the same for every provider.
//! - `request`, `answer`, `error`: what is asked, what comes back, and what goes wrong.
//! - `provider`: [`Provider`] and [`Api`], the settings of a connection.
//! - `client`: HTTP, timeouts, headers. `trace`: traffic for people, without keys.
//! - `frames`: server-sent events and JSON lines out of chunks of bytes. `assembler`: an answer out of its deltas.
//! - `wire`: one folder a format.

mod answer;
mod assembler;
pub mod bounds;
mod client;
mod conversation;
mod error;
mod frames;
mod provider;
mod request;
mod trace;
mod wire;

pub use answer::{Answer, Delta, Finish, Usage, Watch};
pub use client::Client;
pub use conversation::{Arguments, Image, Message, Opaque, Origin, Part, Reasoning, Role, ToolCall, ToolResult};
pub use error::{ModelError, ModelErrorKind};
pub use provider::{Api, Header, Provider};
pub use request::{OutputSchema, Request, Tool, ToolChoice};
pub use trace::Trace;
pub use wire::ollama_base_url;
