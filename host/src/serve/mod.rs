//! The MCP server in front of a space.
//!
//! - [`Offers`]: what is served, which may change while callers are connected
//! - [`Mode`]: what a client is given of it
//! - [`CodeMode`]: three tools instead of three hundred: search, describe, run
//! - [`ToolboxMode`]: two tools in front of groups of servers that are opened on demand
//! - [`ProxyMode`]: chosen functions as tools of their own
//! - `calls`: calls of single functions, for the latter two
//! - `catalogue`, `cards`, `declare`, `declared`: what callers find, and what they are told of it
//! - [`ObservedResults`]: what results without a type were like
//! - `sentences`: what a sentence model makes of the functions, where there is one
//! - `runs`: programs that outlive the request that began them; `waiting`: how requests wait for them
//! - [`ElicitedDecisions`]: approvals that a person gives through the agent's own client
//! - `caller`, `per_caller`: who calls; `handler`: all that as MCP
//! - [`http`]: all that for several callers, over HTTP

mod approvals;
mod caller;
mod calls;
mod cards;
mod catalogue;
pub mod check;
mod code_mode;
mod declare;
mod declared;
mod handler;
pub mod http;
mod mode;
mod observed;
mod offer;
mod per_caller;
mod proxy;
mod runs;
mod sentences;
mod toolbox;
mod waiting;

pub use approvals::{ElicitedDecisions, ServedChannel};
pub use caller::Client;
pub use code_mode::CodeMode;
pub use mode::Mode;
pub use observed::ObservedResults;
pub use offer::{Note, Offer, OfferError, Offers, Servers};
pub use proxy::{Exposure, ProxyMode};
pub use toolbox::{ToolboxMode, Toolboxes};

use handler::ModeHandler;
use rmcp::ServiceExt;
use rmcp::model::JsonObject;
use serde_json::Value;
use std::sync::Arc;

/// Serves one client over a pair of streams until it goes away. Its runs end with it.
pub async fn serve_streams(
    mode: Mode,
    client: Client,
    input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
    output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let handler = ModeHandler::new(mode.clone(), client.clone());
    let served = handler.serve((input, output)).await.map_err(|error| error.to_string())?;
    let ended = served.waiting().await;
    mode.end_all(&client).await;
    ended.map(|_| ()).map_err(|error| error.to_string())
}

/// A schema as tools have it.
fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}
