//! Slack: people ask an agent in channels, in direct messages and with slash commands.
//!
//! A thread is a session. Calls that need a person are shown with buttons, which count only for the configured people.
//! Events come over a WebSocket (Socket Mode); slash commands also over HTTP.
//!
//! - `settings`: [`SlackSettings`]; `api`: Slack's Web API
//! - `socket`: Socket Mode; `envelope`: messages of Slack; `seen`: repetitions
//! - `answering`: questions and their answers; `threads`: sessions of threads; `working`: the message that is an answer
//! - `approvals`: buttons
//! - `commands`: slash commands over HTTP; `signature`: signatures of requests
//! - `mrkdwn`: Slack's markup

mod answering;
mod api;
mod approvals;
mod commands;
mod envelope;
mod mrkdwn;
mod seen;
mod settings;
mod signature;
mod socket;
#[cfg(test)]
mod tests;
mod threads;
mod working;

pub use settings::SlackSettings;

use agent_spaces_agent::{AgentService, Surface};
use agent_spaces_http_server::Routes;
use agent_spaces_journal::Store;
use agent_spaces_types::shown::Shown;
use api::{Api, ApiError};
use approvals::Approvals;
use commands::CommandRoutes;
use envelope::Incoming;
use seen::Seen;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use threads::Threads;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Name of the surface, for logs.
const SURFACE: &str = "slack";

/// Messages and commands that are handled at once. Questions wait at the surface.
const MAX_HANDLED: u32 = 1_000;

/// Clicks that are handled at once, apart from questions: those may be the ones that wait for a click.
const MAX_CLICKS: usize = 100;

/// Time that questions have to say that they were ended, when the process stops.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// A Slack app. Clones share everything.
#[derive(Clone)]
pub struct Slack(Arc<Inner>);

struct Inner {
    settings: SlackSettings,
    api: Api,
    surface: Surface,
    threads: Threads,
    approvals: Approvals,
    seen: Seen,
    /// User id of the bot.
    bot: OnceLock<String>,
    handled: Arc<Semaphore>,
    clicks: Arc<Semaphore>,
    stopping: CancellationToken,
}

impl Slack {
    /// Creates the app, with this many questions at once; ten where none is given. Without a store threads have no memory.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub fn new(
        settings: SlackSettings,
        service: &AgentService,
        store: Option<Arc<dyn Store>>,
        limit: Option<usize>,
    ) -> Result<Slack, String> {
        let api = Api::new(&settings)?;
        Ok(Slack(Arc::new(Inner {
            surface: service.surface(SURFACE, limit),
            threads: Threads::new(store),
            approvals: Approvals::new(api.clone(), settings.approvers.clone()),
            seen: Seen::default(),
            bot: OnceLock::new(),
            handled: Arc::new(Semaphore::new(MAX_HANDLED as usize)),
            clicks: Arc::new(Semaphore::new(MAX_CLICKS)),
            stopping: CancellationToken::new(),
            settings,
            api,
        })))
    }

    /// Stays connected and answers until [`Slack::stop`]. Without a token of the app there is nothing to connect to, and it
    /// returns at once.
    ///
    /// # Errors
    /// The settings of the app are wrong.
    pub async fn run(&self) -> Result<(), String> {
        match &self.0.settings.app_token {
            Some(token) => socket::run(self, token, &self.0.stopping).await,
            None => Ok(()),
        }
    }

    /// Disconnects and ends all questions. People are told, as far as that takes seconds.
    pub async fn stop(&self) {
        self.0.stopping.cancel();
        let _late_is_too_late = tokio::time::timeout(STOP_GRACE, self.0.handled.acquire_many(MAX_HANDLED)).await;
    }

    /// Returns the routes of slash commands over HTTP, if the app has a signing secret.
    pub fn routes(&self) -> Option<Arc<dyn Routes>> {
        let secret = self.0.settings.signing_secret.clone()?;
        Some(Arc::new(CommandRoutes::new(self.clone(), secret)))
    }

    fn settings(&self) -> &SlackSettings {
        &self.0.settings
    }

    fn api(&self) -> &Api {
        &self.0.api
    }

    /// Asks Slack who the bot is, once.
    async fn learn_identity(&self) -> Result<(), ApiError> {
        if self.0.bot.get().is_none() {
            let identity = self.0.api.call("auth.test", &json!({})).await?;
            let bot = identity.get("user_id").and_then(Value::as_str).unwrap_or_default();
            let _known = self.0.bot.set(String::from(Shown::line(bot, 64)));
        }
        Ok(())
    }

    /// Handles an envelope that was acknowledged, in a task of its own. One that was handled before is dropped.
    fn accept(&self, kind: &str, envelope: &str, payload: &Value) {
        let bot = self.0.bot.get().map(String::as_str).unwrap_or_default();
        let Some((key, incoming)) = envelope::read(kind, envelope, payload, bot) else { return };
        let is_new_event = envelope::event_id(payload).is_none_or(|id| self.0.seen.is_new(&format!("event {id}")));
        if is_new_event && self.0.seen.is_new(&key) {
            self.handle(incoming);
        }
    }

    fn handle(&self, incoming: Incoming) {
        let places = match &incoming {
            Incoming::Message(_) | Incoming::Command(_) => &self.0.handled,
            Incoming::Click(_) => &self.0.clicks,
        };
        let Ok(permit) = places.clone().try_acquire_owned() else {
            tracing::warn!(target: "agent_spaces::slack", "too many messages at once: one is dropped");
            return;
        };
        let slack = self.clone();
        tokio::spawn(async move {
            let _permit = permit;
            match incoming {
                Incoming::Message(asked) => slack.answer_message(asked).await,
                Incoming::Command(command) => slack.answer_command(command).await,
                Incoming::Click(click) => slack.answer_click(click).await,
            }
        });
    }
}
