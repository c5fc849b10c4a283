//! Slack (`slack`): the app through which people ask an agent.

use super::raw::Raw;
use super::reader::{Node, Result};
use std::collections::BTreeSet;

/// Maximum number of people who may approve calls. A person wrote them.
const MAX_APPROVERS: usize = 200;

/// Slack app. Nothing here reads variables: tokens are expanded when the app connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slack {
    /// Path in the configuration: `$.slack`.
    pub place: String,
    /// Token of the app (`xapp-…`), for Socket Mode; `${VAR}` not yet expanded. Without one there are only slash commands
    /// over HTTP.
    pub app_token: Option<Raw>,
    /// Token of the bot (`xoxb-…`), `${VAR}` not yet expanded.
    pub bot_token: Raw,
    /// Secret with which Slack signs requests, for slash commands over HTTP; `${VAR}` not yet expanded.
    pub signing_secret: Option<Raw>,
    /// Agent that answers.
    pub agent: String,
    /// Ids of the users who may approve calls. Nobody by default.
    pub approvers: BTreeSet<String>,
    /// Scopes of questions from Slack.
    pub scopes: BTreeSet<String>,
    /// Base URL of Slack's API, if it is not Slack's own; `${VAR}` not yet expanded.
    pub base_url: Option<Raw>,
}

const KEYS: &[&str] = &["appToken", "botToken", "signingSecret", "agent", "approvers", "scopes", "baseUrl"];

impl Slack {
    pub(super) fn read(node: Node<'_>) -> Result<Slack> {
        let object = node.object("a Slack app", KEYS)?;
        let app_token = object.read("appToken", raw("the token of the app"))?;
        let signing_secret = object.read("signingSecret", raw("the signing secret of the app"))?;
        if app_token.is_none() && signing_secret.is_none() {
            let error = node.error("the app has neither an `appToken` nor a `signingSecret`, so Slack cannot reach it");
            return Err(error.with_fix("add an `appToken` for Socket Mode: \"${SLACK_APP_TOKEN}\""));
        }
        let scope = |node: Node<'_>| node.filled_text("a scope").map(str::to_owned);
        let scopes = object.read("scopes", |node| node.list("a list of scopes", scope))?.unwrap_or_default();
        Ok(Slack {
            place: node.path.to_string(),
            app_token,
            bot_token: object.need("botToken", raw("the token of the bot"))?,
            signing_secret,
            agent: object.need("agent", |node| node.filled_text("the name of an agent").map(str::to_owned))?,
            approvers: object.read("approvers", read_approvers)?.unwrap_or_default(),
            scopes: scopes.into_iter().collect(),
            base_url: object.read("baseUrl", raw("a URL"))?,
        })
    }
}

fn raw(what: &'static str) -> impl FnOnce(Node<'_>) -> Result<Raw> {
    move |node| node.filled_text(what).map(Raw::new)
}

fn read_approvers(node: Node<'_>) -> Result<BTreeSet<String>> {
    let approvers = node.list("a list of user ids", |node| {
        let id = node.filled_text("the id of a user, such as \"U012AB3CD\"")?;
        let is_id = id.len() <= 32 && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        match is_id {
            true => Ok(id.to_owned()),
            // Names of users can be changed by them.
            false => Err(node
                .error("a name is not the id of a user")
                .with_fix("copy the member ID of the profile in Slack, such as \"U012AB3CD\"")),
        }
    })?;
    match approvers.len() <= MAX_APPROVERS {
        true => Ok(approvers.into_iter().collect()),
        false => Err(node.error(format!("more than {MAX_APPROVERS} approvers"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::from_value;
    use serde_json::{Value, json};

    fn read(slack: Value) -> Result<super::Slack, String> {
        let read = from_value("f", json!({ "slack": slack })).map_err(|error| error.to_string());
        read.map(|config| config.slack.unwrap())
    }

    #[test]
    fn an_app_has_tokens_an_agent_and_approvers() {
        let slack = read(json!({
            "appToken": "${APP}", "botToken": "${BOT}", "signingSecret": "${SECRET}", "agent": "planner",
            "approvers": ["U1", "W2"], "scopes": ["chat"],
        }))
        .unwrap();
        assert_eq!((slack.bot_token.expose(), slack.agent.as_str()), ("${BOT}", "planner"));
        assert!(slack.approvers.contains("W2") && slack.scopes.contains("chat"));
        let text = format!("{slack:?}");
        assert!(!text.contains("BOT"), "{text}");
    }

    #[test]
    fn without_a_list_nobody_approves() {
        let slack = read(json!({ "appToken": "a", "botToken": "b", "agent": "planner" })).unwrap();
        assert!(slack.approvers.is_empty());
    }

    #[test]
    fn faults_are_named() {
        for (wrong, why) in [
            (json!({ "botToken": "b", "agent": "a" }), "neither an `appToken`"),
            (json!({ "appToken": "a", "agent": "a" }), "`botToken` is missing"),
            (json!({ "appToken": "a", "botToken": "b" }), "`agent` is missing"),
            (json!({ "appToken": "a", "botToken": "b", "agent": "a", "approvers": ["@ann"] }), "not the id of a user"),
            (json!({ "appToken": "a", "botToken": "b", "agent": "a", "approver": [] }), "did you mean `approvers`?"),
        ] {
            let message = read(wrong.clone()).unwrap_err();
            assert!(message.contains(why), "{wrong}: {message}");
        }
    }
}
