//! Approvals by buttons: a message shows the call, and one of the configured people decides.

use super::api::Api;
use super::envelope::{APPROVE, Click, DENY};
use super::mrkdwn::escape;
use agent_spaces_agent::{ApprovalAnswer, ApprovalRequest, Approver};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Characters of one block of a message, and blocks that show a call.
const MAX_BLOCK: usize = 2_900;
const MAX_BLOCKS: usize = 4;

/// Text of notifications.
const SUMMARY: &str = "A call needs an approval";

/// Approvals that wait at once.
const MAX_WAITING: usize = 1_000;

/// Time for a person to decide.
const TIME: Duration = Duration::from_secs(60 * 60);

/// Approvals that wait for a click. Clones share them.
#[derive(Clone)]
pub(super) struct Approvals(Arc<Inner>);

struct Inner {
    api: Api,
    /// Ids of the users who may decide.
    approvers: BTreeSet<String>,
    waiting: Mutex<HashMap<String, oneshot::Sender<ApprovalAnswer>>>,
}

impl Approvals {
    pub(super) fn new(api: Api, approvers: BTreeSet<String>) -> Approvals {
        Approvals(Arc::new(Inner { api, approvers, waiting: Mutex::default() }))
    }

    /// Returns who is asked about calls of a question: people of a channel, in a thread of it if one is given.
    pub(super) fn approver(&self, channel: &str, thread: Option<&str>) -> Arc<dyn Approver> {
        let thread = thread.map(str::to_owned);
        Arc::new(Buttons { all: self.clone(), channel: channel.to_owned(), thread })
    }

    /// Decides as a person clicked. Returns what to tell that person alone, if anything.
    pub(super) fn decide(&self, click: &Click) -> Option<&'static str> {
        if !self.0.approvers.contains(&click.user) {
            return Some("You may not decide on this: ask one of the people in `slack.approvers`.");
        }
        let gone = "This is decided already, or the question has ended.";
        let Some(waiting) = self.waiting().remove(&click.approval) else { return Some(gone) };
        let by = format!("slack:{}", click.user);
        let answer = match click.is_approved {
            true => ApprovalAnswer::Approve { by },
            false => ApprovalAnswer::Deny { by, reason: Some("a person denied it in Slack".to_owned()) },
        };
        waiting.send(answer).err().map(|_| gone)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<ApprovalAnswer>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks with buttons in one place.
struct Buttons {
    all: Approvals,
    channel: String,
    thread: Option<String>,
}

impl Approver for Buttons {
    fn is_present(&self) -> bool {
        !self.all.0.approvers.is_empty()
    }

    fn ask<'a>(&'a self, request: ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        Box::pin(async move {
            let deny =
                |reason: &str| ApprovalAnswer::Deny { by: "agent-spaces".to_owned(), reason: Some(reason.to_owned()) };
            let (decide, decided) = oneshot::channel();
            {
                let mut waiting = self.all.waiting();
                if waiting.len() >= MAX_WAITING || waiting.contains_key(&request.id) {
                    return deny("too many calls wait for a person in Slack");
                }
                waiting.insert(request.id.clone(), decide);
            }
            // Before the message: a click may come at once.
            let mut withdrawal = Withdrawal { buttons: self, id: request.id.clone(), message: None };
            let shown = Shown::of(&request);
            let mut body = json!({ "channel": self.channel, "text": SUMMARY, "blocks": shown.blocks(&request.id) });
            if let Some(thread) = &self.thread {
                body["thread_ts"] = thread.as_str().into();
            }
            match self.all.0.api.call("chat.postMessage", &body).await {
                Ok(posted) => {
                    let text = |name: &str| posted.get(name).and_then(Value::as_str).map(str::to_owned);
                    // Slack answers with the id of the channel, which updates need.
                    let channel = text("channel").unwrap_or_else(|| self.channel.clone());
                    withdrawal.message = text("ts").map(|message| (channel, message, shown));
                }
                Err(error) => {
                    tracing::warn!(target: "agent_spaces::slack", "an approval cannot be shown: {error}");
                    return deny("the approval cannot be shown in Slack: add the app to the channel");
                }
            }
            let answer = match tokio::time::timeout(TIME, decided).await {
                Ok(Ok(answer)) => answer,
                _ => ApprovalAnswer::Expired,
            };
            withdrawal.close(&answer);
            answer
        })
    }
}

/// Takes buttons away when they have no effect any more.
struct Withdrawal<'a> {
    buttons: &'a Buttons,
    id: String,
    /// Channel and id of the message, and what it shows; `None` once it is closed.
    message: Option<(String, String, Shown)>,
}

impl Withdrawal<'_> {
    /// Says in the message how it was decided.
    fn close(&mut self, answer: &ApprovalAnswer) {
        let person = |by: &str| match by.strip_prefix("slack:") {
            Some(user) => format!("<@{user}>"),
            None => escape(by),
        };
        self.replace(&match answer {
            ApprovalAnswer::Approve { by } => format!("Approved by {}", person(by)),
            ApprovalAnswer::Deny { by, .. } => format!("Denied by {}", person(by)),
            ApprovalAnswer::Expired => "Expired: nobody decided in time".to_owned(),
        });
    }

    fn replace(&mut self, ending: &str) {
        let Some((channel, message, shown)) = self.message.take() else { return };
        let mut blocks = shown.call_blocks();
        blocks.push(json!({ "type": "context", "elements": [{ "type": "mrkdwn", "text": ending }] }));
        let body = json!({ "channel": channel, "ts": message, "text": ending, "blocks": blocks });
        let api = self.buttons.all.0.api.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = api.call("chat.update", &body).await {
                    tracing::warn!(target: "agent_spaces::slack", "buttons cannot be taken away: {error}");
                }
            });
        }
    }
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.buttons.all.waiting().remove(&self.id);
        self.replace("Withdrawn: decided elsewhere, or the question has ended");
    }
}

/// Call as people see it. It is shown as it is: Slack reads no markup in it.
struct Shown {
    message: String,
    /// The call as JSON, in pieces.
    call: Vec<String>,
    /// True if it does not fit. Nobody approves what is not shown.
    is_cut: bool,
}

impl Shown {
    fn of(request: &ApprovalRequest) -> Shown {
        let json = serde_json::to_string_pretty(&request.call).unwrap_or_default();
        let characters: Vec<char> = json.chars().collect();
        let is_cut = characters.len() > MAX_BLOCK * MAX_BLOCKS;
        let call = characters.chunks(MAX_BLOCK).take(MAX_BLOCKS).map(|piece| piece.iter().collect()).collect();
        let mut message: String = request.message.chars().take(MAX_BLOCK).collect();
        if message.trim().is_empty() {
            // Slack refuses an empty text.
            message = SUMMARY.to_owned();
        }
        Shown { message, call, is_cut }
    }

    fn call_blocks(&self) -> Vec<Value> {
        let call = self.call.iter().filter(|piece| !piece.is_empty()).map(|piece| {
            let text = json!({ "type": "rich_text_preformatted", "elements": [{ "type": "text", "text": piece }] });
            json!({ "type": "rich_text", "elements": [text] })
        });
        call.collect()
    }

    fn blocks(&self, id: &str) -> Vec<Value> {
        let text = json!({ "type": "plain_text", "text": self.message, "emoji": false });
        let mut blocks = vec![json!({ "type": "section", "text": text })];
        blocks.extend(self.call_blocks());
        let button = |label: &str, action: &str, style: &str| {
            json!({
                "type": "button", "text": { "type": "plain_text", "text": label }, "action_id": action, "value": id,
                "style": style,
            })
        };
        let mut buttons = vec![button("Deny", DENY, "danger")];
        if self.is_cut {
            let text = "The call is too long to be shown whole, so it can only be denied here.";
            blocks.push(json!({ "type": "context", "elements": [{ "type": "plain_text", "text": text }] }));
        } else {
            buttons.insert(0, button("Approve", APPROVE, "primary"));
        }
        blocks.push(json!({ "type": "actions", "elements": buttons }));
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BLOCK, MAX_BLOCKS, Shown};
    use agent_spaces_agent::ApprovalRequest;
    use serde_json::{Value, json};

    fn blocks(call: Value) -> String {
        let request = ApprovalRequest { id: "apr_1".to_owned(), message: "May it?".to_owned(), call };
        json!(Shown::of(&request).blocks("apr_1")).to_string()
    }

    #[test]
    fn the_call_is_shown_as_it_is() {
        let shown = blocks(json!({ "params": { "text": "``` <!channel> *approved*" } }));
        assert!(shown.contains("rich_text_preformatted") && shown.contains("<!channel>"));
        assert!(shown.contains("agent_spaces_approve") && shown.contains("agent_spaces_deny"));
    }

    #[test]
    fn what_is_not_shown_whole_cannot_be_approved() {
        let long = "x".repeat(MAX_BLOCK * MAX_BLOCKS + 1);
        let shown = blocks(json!({ "params": long }));
        assert!(!shown.contains("agent_spaces_approve") && shown.contains("agent_spaces_deny"));
        assert!(shown.len() < MAX_BLOCK * (MAX_BLOCKS + 3), "{}", shown.len());
    }
}
