//! Server startup, shared by `serve` and `mcp serve`.
//!
//! - `agents`: agents and the spaces whose functions are their tools
//! - `settings`: mode, name and concurrency, from flags and configuration
//! - `source`: the served project, reloaded as tools become known
//! - `durable`: durable runs that the server continues
//! - `discovery`: background listing of the tools of MCP servers
//! - `listener`, `token`: HTTP listener and bearer tokens
//! - `stop_signals`: SIGINT and SIGTERM

pub(super) mod agents;
pub(super) mod discovery;
pub(super) mod durable;
pub(super) mod listener;
pub(super) mod settings;
pub(super) mod source;
mod stop_signals;
pub(super) mod token;

pub(super) use stop_signals::StopSignals;

/// Completes on SIGINT or SIGTERM, counted from this call.
pub(super) fn stop_signal() -> impl Future<Output = ()> {
    let mut signals = StopSignals::new();
    async move { signals.next().await }
}
