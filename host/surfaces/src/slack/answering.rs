//! Questions of people, and what they are told.

use super::Slack;
use super::envelope::{Asked, Click, SlashCommand};
use super::mrkdwn::{escape, of_markdown, pieces};
use super::threads::owner;
use super::working::{WorkingMessage, say};
use crate::failure::Failure;
use crate::progress_text;
use agent_spaces_agent::{AgentError, AgentEvent, Approver, Outcome, Question, SessionChoice};
use agent_spaces_http_server::Client;
use agent_spaces_models::Message;
use agent_spaces_types::caller::Caller;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::watch;
use url::Url;

/// Answers to one slash command. Slack takes five.
const MAX_RESPONSES: usize = 4;

/// Answer to an empty question.
const ASK: &str = "Ask me something: write your question behind my name.";

impl Slack {
    /// Answers a message in its thread.
    pub(super) async fn answer_message(&self, asked: Asked) {
        let Asked { team, channel, thread, text, .. } = asked;
        if text.is_empty() {
            say(self.api(), &channel, &thread, ASK).await;
            return;
        }
        let Some(held) = self.0.threads.enter(&team, &channel, &thread) else {
            let busy = "I am still answering the question before this one: ask again when I am done.";
            say(self.api(), &channel, &thread, busy).await;
            return;
        };
        let message = WorkingMessage::post(self.api(), &channel, &thread).await;
        let session = match self.0.threads.session(&held, &self.settings().agent).await {
            Ok(Some(session)) => SessionChoice::Resume(session),
            Ok(None) if self.0.threads.are_kept() => SessionChoice::New,
            Ok(None) => SessionChoice::None,
            Err(error) => {
                tracing::error!(target: "agent_spaces::slack", "the session of a thread cannot be read: {error}");
                message
                    .finish(&warning("The session of this thread cannot be read; the server's log has the reason"))
                    .await;
                return;
            }
        };
        let approver = self.0.approvals.approver(&channel, Some(&thread));
        let (sender, news) = watch::channel(String::new());
        let is_resumed = matches!(session, SessionChoice::Resume(_));
        let answering = async {
            let answered = self.ask(&team, &text, session, approver.clone(), sender.clone()).await;
            match answered {
                // The session expired, or was deleted.
                Err(AgentError::UnknownSession(_)) if is_resumed => {
                    self.ask(&team, &text, SessionChoice::New, approver, sender).await
                }
                answered => answered,
            }
        };
        let answered = tokio::select! {
            answered = answering => answered,
            () = message.follow(news) => return,
        };
        if let Ok(outcome) = &answered
            && !outcome.session.is_empty()
            && let Err(error) = self.0.threads.keep(&held, &self.settings().agent, &outcome.session).await
        {
            tracing::error!(target: "agent_spaces::slack", "the session of a thread cannot be kept: {error}");
        }
        message.finish(&text_of(answered)).await;
    }

    /// Answers a slash command, for its sender alone.
    pub(super) async fn answer_command(&self, command: SlashCommand) {
        let SlashCommand { team, channel, command, text, response_url } = command;
        let Some(url) = Url::parse(&response_url).ok().filter(|url| self.settings().allows_response_url(url)) else {
            tracing::warn!(target: "agent_spaces::slack", "a slash command has an address that is not Slack's: it is ignored");
            return;
        };
        let answer = match text.is_empty() {
            true => format!("Ask me something: `{} your question`", escape(&command)),
            false => {
                let approver = self.0.approvals.approver(&channel, None);
                let (sender, _news) = watch::channel(String::new());
                text_of(self.ask(&team, &text, SessionChoice::None, approver, sender).await)
            }
        };
        let mut pieces = pieces(&answer);
        if pieces.len() > MAX_RESPONSES {
            pieces.truncate(MAX_RESPONSES);
            pieces.push("_The answer is longer: ask in a channel or a direct message._".to_owned());
        }
        for piece in pieces {
            if let Err(error) = self.api().respond(&url, &piece).await {
                tracing::warn!(target: "agent_spaces::slack", "a slash command cannot be answered: {error}");
                return;
            }
        }
    }

    /// Decides as a person clicked, or tells that person why not.
    pub(super) async fn answer_click(&self, click: Click) {
        let Some(refusal) = self.0.approvals.decide(&click) else { return };
        let mut body = json!({ "channel": click.channel, "user": click.user, "text": refusal });
        if let Some(thread) = &click.thread {
            body["thread_ts"] = thread.as_str().into();
        }
        if let Err(error) = self.api().call("chat.postEphemeral", &body).await {
            tracing::warn!(target: "agent_spaces::slack", "a person cannot be told of a refusal: {error}");
        }
    }

    async fn ask(
        &self,
        team: &str,
        text: &str,
        session: SessionChoice,
        approver: Arc<dyn Approver>,
        news: watch::Sender<String>,
    ) -> Result<Outcome, AgentError> {
        let name = owner(team);
        let caller = Caller { name: Some(name.clone()), scopes: self.settings().scopes.clone(), ..Caller::default() };
        let watcher = Arc::new(move |event: AgentEvent| {
            if let Some(text) = progress_text::of(&event) {
                news.send_replace(text);
            }
        });
        let question = Question {
            session,
            approver,
            watcher,
            cancel: self.0.stopping.child_token(),
            ..Question::new(Client::named(&name, caller), self.settings().agent.clone(), vec![Message::user(text)])
        };
        self.0.surface.ask(question).await
    }
}

/// Answer as Slack shows it.
fn text_of(answered: Result<Outcome, AgentError>) -> String {
    let outcome = match answered {
        Ok(outcome) => outcome,
        Err(error) => return warning(&Failure::of_error(&error).message),
    };
    if let Some(failure) = Failure::of_outcome(&outcome) {
        return warning(&failure.message);
    }
    let Outcome { text, value, message, .. } = outcome;
    let answer = match value {
        Some(_) => of_markdown(&format!("```\n{}\n```", text.replace("```", "` ` `"))),
        None => of_markdown(&text),
    };
    match message {
        // Why the answer is not whole.
        Some(message) if answer.trim().is_empty() => warning(&message),
        Some(message) => format!("{answer}\n\n{}", warning(&message)),
        None => answer,
    }
}

fn warning(message: &str) -> String {
    format!(":warning: {}", escape(message))
}
