//! The message that becomes an answer: it says what the agent does, and then what it says.

use super::api::Api;
use super::mrkdwn::{escape, pieces};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;

/// Interval of updates. Slack allows about fifty in a minute for the whole app.
const INTERVAL: Duration = Duration::from_secs(5);

/// A message in a thread.
pub(super) struct WorkingMessage {
    api: Api,
    channel: String,
    thread: String,
    /// Its id; `None` if it could not be posted.
    message: Option<String>,
}

impl WorkingMessage {
    /// Posts the message.
    pub(super) async fn post(api: &Api, channel: &str, thread: &str) -> WorkingMessage {
        let (api, channel, thread) = (api.clone(), channel.to_owned(), thread.to_owned());
        let mut message = WorkingMessage { api, channel, thread, message: None };
        message.message = message.say("_Working…_").await;
        message
    }

    /// Shows what the agent does. Never completes.
    pub(super) async fn follow(&self, mut news: watch::Receiver<String>) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if news.changed().await.is_err() {
                return std::future::pending().await;
            }
            let text = format!("_Working… {}_", escape(&news.borrow_and_update().clone()));
            self.update(&text).await;
        }
    }

    /// Replaces the message by an answer, which goes on in others if it is long.
    pub(super) async fn finish(self, mrkdwn: &str) {
        let pieces = pieces(mrkdwn);
        let mut pieces = pieces.iter();
        if let Some(first) = pieces.next()
            && !self.update(first).await
        {
            self.say(first).await;
        }
        for piece in pieces {
            self.say(piece).await;
        }
    }

    /// Posts a message in the thread. Returns its id.
    async fn say(&self, text: &str) -> Option<String> {
        say(&self.api, &self.channel, &self.thread, text).await
    }

    /// Replaces the text of the message. Returns true if that worked.
    async fn update(&self, text: &str) -> bool {
        let Some(message) = &self.message else { return false };
        let body = json!({ "channel": self.channel, "ts": message, "text": text });
        let updated = self.api.call("chat.update", &body).await;
        if let Err(error) = &updated {
            tracing::warn!(target: "agent_spaces::slack", "a message cannot be changed: {error}");
        }
        updated.is_ok()
    }
}

/// Posts a message in a thread. Returns its id; `None` if it could not be posted.
pub(super) async fn say(api: &Api, channel: &str, thread: &str, text: &str) -> Option<String> {
    let body = json!({
        "channel": channel, "thread_ts": thread, "text": text, "unfurl_links": false, "unfurl_media": false,
    });
    match api.call("chat.postMessage", &body).await {
        Ok(posted) => posted.get("ts").and_then(Value::as_str).map(str::to_owned),
        Err(error) => {
            tracing::warn!(target: "agent_spaces::slack", "a message cannot be posted: {error}");
            None
        }
    }
}
