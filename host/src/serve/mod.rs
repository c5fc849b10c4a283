//! The MCP server in front of a space.
//!
//! - [`Offers`]: what is served, which may change while callers are connected
//! - [`CodeMode`]: three tools instead of three hundred: search, describe, run
//! - `catalogue`, `cards`, `declare`, `declared`: what callers find, and what they are told of it
//! - `runs`: programs that outlive the request that began them
//! - [`ElicitedDecisions`]: approvals that a person gives through the agent's own client
//! - `caller`: who calls; `handler`: all that as MCP
//! - [`http`]: all that for several callers, over HTTP

mod approvals;
mod caller;
mod cards;
mod catalogue;
pub mod check;
mod code_mode;
mod declare;
mod declared;
mod handler;
pub mod http;
mod offer;
mod runs;

pub use approvals::{ElicitedDecisions, ServedChannel};
pub use caller::Client;
pub use code_mode::CodeMode;
pub use offer::{Offer, OfferError, Offers};

use handler::CodeModeHandler;
use rmcp::ServiceExt;

/// Serves one client over a pair of streams until it goes away. Its runs end with it.
pub async fn serve_streams(
    mode: CodeMode,
    client: Client,
    input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
    output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let handler = CodeModeHandler::new(mode.clone(), client.clone());
    let served = handler.serve((input, output)).await.map_err(|error| error.to_string())?;
    let ended = served.waiting().await;
    mode.end_all(&client);
    ended.map(|_| ()).map_err(|error| error.to_string())
}
