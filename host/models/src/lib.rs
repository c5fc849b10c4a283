//! Language models over HTTP, in the wire formats of their providers.
//!
//! A [`Provider`] has the address and the wire format of a model; [`Client::answer`] sends a [`Request`] and returns an
//! [`Answer`]. A streamed answer is reported piece by piece ([`Delta`]). Everything from a provider is bounded
//! ([`bounds`]), and a stream that ends early is an error.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use agent_spaces_models::{Api, Client, Delta, Message, Provider, Request};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let provider = Provider {
//!     name: "local".to_owned(),
//!     api: Api::Ollama,
//!     base_url: "http://127.0.0.1:11434/api".parse()?,
//!     key: None,
//!     headers: Vec::new(),
//!     timeout: Duration::from_secs(120),
//!     openrouter: false,
//! };
//! let request = Request {
//!     model: "qwen3".to_owned(),
//!     messages: vec![Message::user("What is a component?")],
//!     stream: true,
//!     ..Request::default()
//! };
//! let mut watch = |delta: Delta<'_>| {
//!     if let Delta::Text(text) = delta {
//!         print!("{text}");
//!     }
//! };
//! let answer = Client::new()?.answer(&provider, &request, &mut watch).await?;
//! println!("\n{} tokens", answer.usage.total());
//! # Ok(())
//! # }
//! ```
//!
//! The crate never retries a request. [`ModelError::is_transient`] tells a caller whether a retry makes sense, and
//! [`ModelError::retry_after`] how long to wait before it.
//!
//! # Layout
//! - `conversation`: [`Message`], [`Part`] and their contents, the same for every provider.
//! - `request`, `answer`, `error`: [`Request`], [`Answer`] and [`ModelError`].
//! - `provider`: [`Provider`] and [`Api`], the settings of a connection.
//! - `client`: HTTP, timeouts, headers. `trace`: redacted log of the traffic.
//! - `frames`: parser of server-sent events and JSON lines. `assembler`: builds an answer from its deltas.
//! - `wire`: one folder per wire format.

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
