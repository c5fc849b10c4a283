//! Language models over HTTP, in the wire formats of their providers.
//!
//! A [`Provider`] says where a model is and which format it speaks; [`Client::answer`] sends a [`Request`] and gives an
//! [`Answer`]. What arrives of a stream is told on the way ([`Delta`]). Everything that comes in is bounded ([`bounds`]),
//! and a stream without its end is a failure.
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
//! A caller decides what to do about a failure: [`ModelError::is_transient`] says whether another attempt makes sense, and
//! [`ModelError::retry_after`] how long the provider asks to wait. The crate itself never repeats a request.
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
