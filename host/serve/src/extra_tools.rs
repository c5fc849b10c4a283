//! Tools of the host beside those of a mode, such as its agents.

use agent_spaces_http_server::Client;
use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::RequestContext;

/// Tools that a host adds to a mode: see [`Mode::with_tools`](crate::Mode::with_tools). Every transport serves them.
pub trait ExtraTools: Send + Sync {
    /// Lists the tools that a client may call. A tool of the mode with the same name hides one of these.
    fn list(&self, client: &Client) -> Vec<Tool>;

    /// Calls a tool for a client. Returns `None` if there is no such tool. The future is dropped when the request is
    /// cancelled or the client disconnects. Secrets of the served space are removed from the response afterwards.
    fn call<'a>(
        &'a self,
        client: &'a Client,
        request: CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
    ) -> BoxFuture<'a, Option<CallToolResponse>>;
}
