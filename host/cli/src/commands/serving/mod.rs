//! Server startup, shared by `serve` and `mcp serve`.
//!
//! - `agents`: agents and the spaces whose functions are their tools
//! - `settings`: mode, name and concurrency, from flags and configuration
//! - `source`: the served project, reloaded as tools become known
//! - `durable`: durable runs that the server continues
//! - `discovery`: background listing of the tools of MCP servers
//! - `listener`, `token`: HTTP listener and bearer tokens

pub(super) mod agents;
pub(super) mod discovery;
pub(super) mod durable;
pub(super) mod listener;
pub(super) mod settings;
pub(super) mod source;
mod token;

/// Completes on SIGINT or SIGTERM, counted from this call.
pub(super) fn stop_signal() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::interrupt()).and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)))
    };
    async move {
        #[cfg(unix)]
        if let Ok((mut interrupt, mut terminate)) = signals {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
