//! Slack's Web API: requests with a token, and their answers.

use super::settings::SlackSettings;
use agent_spaces_secrets::Secret;
use agent_spaces_types::shown::Shown;
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, redirect};
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// Timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Timeout of a connection with its TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of an answer. Answers repeat the message that was posted.
const MAX_ANSWER: usize = 1 << 20;

/// Attempts at a request that Slack has no time for, and the longest wait before the next.
const ATTEMPTS: u32 = 4;
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Length of Slack's word for an error.
const MAX_ERROR: usize = 200;

/// Errors after which another attempt is of no use: the settings are wrong.
const FATAL: [&str; 9] = [
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "not_allowed_token_type",
    "missing_scope",
    "no_permission",
    "forbidden_team",
];

/// Failure of a request. Its text has no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// Slack refused.
    #[error("Slack refused {method}: {error}")]
    Refused {
        /// The method.
        method: String,
        /// Slack's word.
        error: String,
    },
    /// No answer came.
    #[error("Slack did not answer {method}: {why}")]
    Failed {
        /// The method.
        method: String,
        /// The cause, without secrets.
        why: String,
    },
}

impl ApiError {
    /// Returns true if only other settings help.
    pub(super) fn is_fatal(&self) -> bool {
        matches!(self, ApiError::Refused { error, .. } if FATAL.contains(&error.as_str()))
    }
}

/// Slack's Web API. Clones share connections.
#[derive(Clone, Debug)]
pub(super) struct Api {
    client: Client,
    base_url: Url,
    bot_token: Secret,
}

impl Api {
    /// Creates the client.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(super) fn new(settings: &SlackSettings) -> Result<Api, String> {
        // An error only means that there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .redirect(redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT);
        // Nothing on this machine is reached through a proxy.
        let is_local = super::settings::is_loopback(&settings.base_url);
        let builder = if is_local { builder.no_proxy() } else { builder };
        let client = builder.build().map_err(|error| format!("the HTTP client cannot be set up: {error}"))?;
        Ok(Api { client, base_url: settings.base_url.clone(), bot_token: settings.bot_token.clone() })
    }

    /// Calls a method with the bot's token.
    pub(super) async fn call(&self, method: &str, body: &Value) -> Result<Value, ApiError> {
        self.call_with(method, &self.bot_token, body).await
    }

    /// Calls a method with a token. Waits if Slack asks for it.
    pub(super) async fn call_with(&self, method: &str, token: &Secret, body: &Value) -> Result<Value, ApiError> {
        let failed = |why: &str| ApiError::Failed { method: method.to_owned(), why: why.to_owned() };
        let url = self.base_url.join(method).map_err(|_| failed("its address is wrong"))?;
        let text = body.to_string();
        let mut attempt = 1;
        loop {
            let request = self.client.post(url.clone()).bearer_auth(token.expose());
            let request = request.header(CONTENT_TYPE, "application/json; charset=utf-8").body(text.clone());
            let response = request.send().await.map_err(|error| failed(&describe(error)))?;
            if response.status() == StatusCode::TOO_MANY_REQUESTS && attempt < ATTEMPTS {
                attempt += 1;
                tokio::time::sleep(wait(&response)).await;
                continue;
            }
            let status = response.status();
            let answer = read(response).await.ok_or_else(|| failed("its answer was cut or too long"))?;
            let answer: Value = serde_json::from_slice(&answer)
                .map_err(|_| failed(&format!("HTTP {} without JSON", status.as_u16())))?;
            if answer.get("ok") == Some(&Value::Bool(true)) {
                return Ok(answer);
            }
            let error = answer.get("error").and_then(Value::as_str).unwrap_or("unknown error");
            let error = String::from(Shown::line(error, MAX_ERROR));
            return Err(ApiError::Refused { method: method.to_owned(), error });
        }
    }

    /// Answers a slash command. The URL is its credential: no token is sent.
    pub(super) async fn respond(&self, url: &Url, text: &str) -> Result<(), ApiError> {
        let failed =
            |why: &str| ApiError::Failed { method: "a command's response URL".to_owned(), why: why.to_owned() };
        let body = json!({ "response_type": "ephemeral", "text": text, "replace_original": false });
        let request = self.client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body.to_string());
        let response = request.send().await.map_err(|error| failed(&describe(error)))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(failed(&format!("HTTP {}", status.as_u16()))),
        }
    }
}

/// Returns the time that Slack asks to wait.
fn wait(response: &Response) -> Duration {
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Duration::from_secs(seconds.unwrap_or(1)).min(MAX_WAIT)
}

/// Receives an answer; `None` if it is cut or too long.
async fn read(mut response: Response) -> Option<Vec<u8>> {
    let mut answer = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if chunk.len() > MAX_ANSWER.saturating_sub(answer.len()) {
            return None;
        }
        answer.extend_from_slice(&chunk);
    }
    Some(answer)
}

/// Describes a failure. The URL is left out: that of a response is a credential.
fn describe(error: reqwest::Error) -> String {
    error.without_url().to_string()
}
