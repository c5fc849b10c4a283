//! MCP progress notifications of a request.

use crate::runs::ServedRun;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Minimum interval between notifications. Faster work is not reported.
const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum interval between notifications: some clients time out from the last one.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Sends progress notifications to the client of one request.
pub(super) struct ProgressReporter<'a> {
    context: &'a RequestContext<RoleServer>,
    /// Set if the client requested notifications.
    token: Option<ProgressToken>,
    step: f64,
}

impl<'a> ProgressReporter<'a> {
    pub(super) fn new(context: &'a RequestContext<RoleServer>) -> ProgressReporter<'a> {
        ProgressReporter { context, token: context.meta.get_progress_token(), step: 0.0 }
    }

    /// Returns the request context.
    pub(super) fn context(&self) -> &'a RequestContext<RoleServer> {
        self.context
    }

    /// Waits for some work, and reports it if it takes long.
    pub(super) async fn during<T>(&mut self, what: &str, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        let mut quiet = MIN_INTERVAL;
        loop {
            if let Ok(done) = timeout(quiet, &mut work).await {
                return done;
            }
            self.report(what.to_owned()).await;
            quiet = HEARTBEAT;
        }
    }

    /// Reports the progress of a run. Never completes.
    pub(super) async fn follow(&mut self, run: &ServedRun) {
        let mut progress = run.progress();
        let mut quiet = MIN_INTERVAL;
        while self.token.is_some() {
            // The sender is dropped when the run's task ends.
            if let Ok(Err(_)) = timeout(quiet, progress.changed()).await {
                break;
            }
            let current = progress.borrow_and_update().clone();
            self.report(current.to_string()).await;
            sleep(MIN_INTERVAL).await;
            quiet = HEARTBEAT;
        }
        std::future::pending().await
    }

    async fn report(&mut self, message: String) {
        let Some(token) = &self.token else { return };
        self.step += 1.0;
        let param = ProgressNotificationParam::new(token.clone(), self.step).with_message(message);
        let _the_client_may_be_gone = self.context.peer.notify_progress(param).await;
    }
}
