//! Progress notifications of a question.

use crate::progress_text;
use agent_spaces_agent::{AgentEvent, Watcher};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// Minimum interval between notifications.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// Maximum interval between notifications: some clients time out from the last one.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Tells the client of a request what its agent does.
pub(super) struct Progress<'a> {
    context: &'a RequestContext<RoleServer>,
    /// Set if the client wants notifications.
    token: Option<ProgressToken>,
    step: f64,
    news: watch::Receiver<String>,
}

impl<'a> Progress<'a> {
    /// Returns the reporter and the watcher of the question.
    pub(super) fn new(context: &'a RequestContext<RoleServer>) -> (Progress<'a>, Watcher) {
        let (sender, news) = watch::channel("asked".to_owned());
        let watcher = Arc::new(move |event: AgentEvent| {
            if let Some(text) = progress_text::of(&event) {
                sender.send_replace(text);
            }
        });
        (Progress { context, token: context.meta.get_progress_token(), step: 0.0, news }, watcher)
    }

    /// Sends the next notification when it is time. Never completes for a client that wants none.
    pub(super) async fn report(&mut self) {
        let Some(token) = self.token.clone() else { return std::future::pending().await };
        sleep(MIN_INTERVAL).await;
        let _same_is_fine = timeout(HEARTBEAT, self.news.changed()).await;
        let message = self.news.borrow_and_update().clone();
        self.step += 1.0;
        let param = ProgressNotificationParam::new(token, self.step).with_message(message);
        let _the_client_may_be_gone = self.context.peer.notify_progress(param).await;
    }
}
