//! What a client that wants to know hears while it waits.

use crate::serve::runs::ServedRun;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How often it hears how far a run has come. What takes less time is not worth telling.
const PROGRESS: Duration = Duration::from_millis(250);

/// How long it hears nothing at most: some count the time from the last sign of life.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Tells the client of one request.
pub(super) struct Teller<'a> {
    context: &'a RequestContext<RoleServer>,
    /// Where it wants to know.
    token: Option<ProgressToken>,
    step: f64,
}

impl<'a> Teller<'a> {
    pub(super) fn new(context: &'a RequestContext<RoleServer>) -> Teller<'a> {
        Teller { context, token: context.meta.get_progress_token(), step: 0.0 }
    }

    /// The request.
    pub(super) fn context(&self) -> &'a RequestContext<RoleServer> {
        self.context
    }

    /// Waits for some work, and says so once that takes a while.
    pub(super) async fn during<T>(&mut self, what: &str, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        let mut quiet = PROGRESS;
        loop {
            if let Ok(done) = timeout(quiet, &mut work).await {
                return done;
            }
            self.tell(what.to_owned()).await;
            quiet = HEARTBEAT;
        }
    }

    /// Says how far a run has come. Ends only with its future.
    pub(super) async fn follow(&mut self, run: &ServedRun) {
        let mut progress = run.progress();
        let mut quiet = PROGRESS;
        while self.token.is_some() {
            // Its task is gone when nothing changes any more.
            if let Ok(Err(_)) = timeout(quiet, progress.changed()).await {
                break;
            }
            let said = progress.borrow_and_update().clone();
            self.tell(said.to_string()).await;
            sleep(PROGRESS).await;
            quiet = HEARTBEAT;
        }
        std::future::pending().await
    }

    async fn tell(&mut self, message: String) {
        let Some(token) = &self.token else { return };
        self.step += 1.0;
        let param = ProgressNotificationParam::new(token.clone(), self.step).with_message(message);
        let _the_client_may_be_gone = self.context.peer.notify_progress(param).await;
    }
}
