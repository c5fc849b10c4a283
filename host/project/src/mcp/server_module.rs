//! MCP server that answers a module.

use super::configured_server::ConfiguredServer;
use super::provider::Connected;
use agent_spaces_mcp::lock::LockedServer;
use serde_json::Value;
use std::sync::Arc;

/// MCP server that answers a module.
#[derive(Clone, Debug)]
pub struct ServerModule {
    /// The server's configuration.
    pub configured: Arc<ConfiguredServer>,
    /// Accepted tools, from the lock or from a recorded tool list.
    pub accepted: Option<Arc<LockedServer>>,
    /// Tools as the server lists them.
    pub tools: Arc<[Value]>,
    /// Open session, if there is one already.
    pub connected: Option<Connected>,
}
