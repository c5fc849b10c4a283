//! Signals that stop a server.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM, counted from the creation of this value.
pub(in crate::commands) struct StopSignals {
    /// `None` if they could not be registered.
    #[cfg(unix)]
    both: Option<(Signal, Signal)>,
}

impl StopSignals {
    /// Registers for the signals.
    pub(in crate::commands) fn new() -> StopSignals {
        StopSignals {
            #[cfg(unix)]
            both: signal(SignalKind::interrupt())
                .and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)))
                .ok(),
        }
    }

    /// Waits for the next signal. Signals that arrive in between count as one.
    pub(in crate::commands) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some((interrupt, terminate)) = &mut self.both {
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
