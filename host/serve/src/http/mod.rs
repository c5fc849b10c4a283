//! MCP over HTTP for several callers, each with a service and sessions of its own.
//!
//! - `token`, [`Callers`]: bearer-token authentication
//! - [`OriginCheck`]: checks of the `Host` and `Origin` headers
//! - `server`: request routing and limits; `responses`: error responses and CORS headers
//! - `sessions`, `tracked_stream`: MCP sessions, and cancellation of requests whose client disconnected
//! - `presence`: idle detection of callers
//! - `listen`: accept loop and graceful shutdown; `connections`: connection limits; `write_timeout`: peers that do not
//!   read

mod callers;
mod connections;
mod listen;
mod origin_check;
mod presence;
mod responses;
mod server;
mod sessions;
mod token;
mod tracked_stream;
mod write_timeout;

pub use callers::Callers;
pub use listen::serve_http;
pub use origin_check::{OriginCheck, OriginCheckError};
pub use token::{Token, TokenError};

/// URL path of the MCP endpoint.
pub const PATH: &str = "/mcp";
