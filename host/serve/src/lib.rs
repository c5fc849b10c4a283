//! MCP server in front of a space: code mode, toolboxes, proxy, over stdio or HTTP.
//!
//! Nothing here executes scripts or decides about calls: `sandbox` and `pipeline` do. Command-line flags and the
//! configuration are read by `cli` and `project`.
//!
//! # Layout
//! - [`Mode`]: server mode, one of [`CodeMode`] (three tools: search, describe, run), [`ToolboxMode`] (two tools in
//!   front of groups of servers that are started on demand) and [`ProxyMode`] (selected functions as MCP tools)
//! - [`ExtraTools`]: tools that the host adds to a mode
//! - `handler`: the MCP request handler of a mode; `redacted_response`: removes secrets from responses
//! - `served_space`: [`Offers`], the space that is served now; it may be replaced while clients are connected
//! - `exposure`: selection of functions for proxy mode, and their tool definitions
//! - `catalogue`, `cards`: searchable functions; `declarations`, `dts_parser`: their TypeScript and WIT;
//!   `function_details`: their schemas; `embedding`: semantic search
//! - [`ObservedResults`]: result types inferred from earlier calls
//! - [`check`]: type checker for programs; [`program_check`]: check of a program against a catalogue
//! - `runs`: runs that outlive their request, and requests that wait for one; `pages`: long results in pages
//! - `durable`: runs that outlive this process
//! - `calls`: calls of single functions, for toolbox and proxy mode
//! - [`Overview`]: what a client can call, for a host that has a model of its own
//! - [`ElicitedDecisions`]: approvals through MCP elicitation
//! - [`Client`]: identity of a client; `instructions_cache`, `caller_limits`: state per caller; [`concurrency`]: limiter
//! - [`http`]: MCP over HTTP for several callers

mod approvals;
mod caller_limits;
mod calls;
mod cards;
mod catalogue;
pub mod check;
mod code_mode;
pub mod concurrency;
mod declarations;
mod dts_parser;
mod durable;
mod embedding;
mod exposure;
mod extra_tools;
mod function_details;
mod handler;
pub mod http;
mod instructions_cache;
mod mode;
mod observed;
mod offer_error;
mod overview;
mod pages;
pub mod program_check;
mod proxy;
mod redacted_response;
mod runs;
mod served_space;
mod toolbox;

pub use agent_spaces_http_server::Client;
pub use approvals::{APPROVAL, DECIDED_BY, ElicitedDecisions, ServedChannel};
pub use cards::Card;
pub use catalogue::Catalogue;
pub use code_mode::CodeMode;
pub use durable::DurableSpace;
pub use exposure::Exposure;
pub use extra_tools::ExtraTools;
pub use function_details::FunctionDetails;
pub use mode::{Extended, Mode};
pub use observed::ObservedResults;
pub use offer_error::OfferError;
pub use overview::{ModuleOverview, Overview, ToolOverview};
pub use proxy::ProxyMode;
pub use served_space::{Note, Offer, Offers, ServerInstructions, Servers};
pub use toolbox::{ToolboxMode, Toolboxes};

use handler::ModeHandler;
use rmcp::ServiceExt;
use rmcp::model::JsonObject;
use serde_json::Value;
use std::sync::Arc;

/// Serves one client over a pair of streams until it disconnects, then ends its runs.
pub async fn serve_streams(
    mode: Mode,
    client: Client,
    input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
    output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let ended = serve_connection(mode.clone(), client.clone(), input, output).await;
    mode.end_all(&client).await;
    ended
}

/// Serves one of several connections of a client over a pair of streams, until it ends. Runs and calls that wait without
/// a request go on: another connection may ask for them, and they end by themselves if none does.
pub async fn serve_connection(
    mode: Mode,
    client: Client,
    input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
    output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let handler = ModeHandler::new(mode, client);
    let served = handler.serve((input, output)).await.map_err(|error| error.to_string())?;
    served.waiting().await.map(|_| ()).map_err(|error| error.to_string())
}

/// Converts a JSON schema to the object type of `rmcp`.
fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}
