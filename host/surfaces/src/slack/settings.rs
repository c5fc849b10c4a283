//! Settings of a Slack app, with tokens.

use agent_spaces_config::{Raw, Slack};
use agent_spaces_secrets::{Secret, Variables, expand};
use std::collections::BTreeSet;
use url::{Host, Url};

/// Slack's API.
const API: &str = "https://slack.com/api/";

/// Settings of a Slack app.
#[derive(Clone, Debug)]
pub struct SlackSettings {
    /// Token of the app, for Socket Mode.
    pub app_token: Option<Secret>,
    /// Token of the bot.
    pub bot_token: Secret,
    /// Secret with which Slack signs requests.
    pub signing_secret: Option<Secret>,
    /// Agent that answers.
    pub agent: String,
    /// Ids of the users who may approve calls.
    pub approvers: BTreeSet<String>,
    /// Scopes of questions.
    pub scopes: BTreeSet<String>,
    /// Base URL of the API, with a slash at its end.
    pub base_url: Url,
}

impl SlackSettings {
    /// Fills in the variables of a configuration.
    ///
    /// # Errors
    /// The fault and its place. No value is in the text.
    pub fn of(slack: &Slack, variables: &Variables) -> Result<SlackSettings, String> {
        let place = &slack.place;
        let fill = |member: &str, raw: &Raw| match expand(raw.expose(), variables) {
            Ok(expanded) if expanded.text.trim().is_empty() => {
                Err(format!("{place}.{member} is empty: set its variable"))
            }
            Ok(expanded) => Ok(expanded.text.trim().to_owned()),
            Err(error) => Err(format!("{place}.{member}: {error}")),
        };
        let secret = |member: &str, raw: &Raw| fill(member, raw).map(Secret::new);
        let optional = |member: &str, raw: &Option<Raw>| raw.as_ref().map(|raw| secret(member, raw)).transpose();
        let base_url = match &slack.base_url {
            Some(raw) => fill("baseUrl", raw)?,
            None => API.to_owned(),
        };
        Ok(SlackSettings {
            app_token: optional("appToken", &slack.app_token)?,
            bot_token: secret("botToken", &slack.bot_token)?,
            signing_secret: optional("signingSecret", &slack.signing_secret)?,
            agent: slack.agent.clone(),
            approvers: slack.approvers.clone(),
            scopes: slack.scopes.clone(),
            base_url: base(&base_url).ok_or_else(|| {
                format!("{place}.baseUrl is not usable: write an `https` URL; `http` is allowed on this machine only")
            })?,
        })
    }

    /// Returns the secrets, for a redactor.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        [&self.app_token, &self.signing_secret].into_iter().flatten().chain([&self.bot_token])
    }

    /// Returns true if answers to a slash command may be sent to this URL: it is Slack's, or where the API is. A request
    /// that could name any URL would make this host send there.
    pub(super) fn allows_response_url(&self, url: &Url) -> bool {
        let is_slack = url.scheme() == "https" && url.host_str() == Some("hooks.slack.com") && url.port().is_none();
        let is_plain = url.username().is_empty() && url.password().is_none();
        is_plain && (is_slack || url.origin() == self.base_url.origin())
    }
}

/// Returns a base URL with a slash at its end; `None` if tokens must not be sent there.
fn base(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    if !is_safe || url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return None;
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Some(url)
}

/// Returns true for addresses of this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{SlackSettings, base};
    use agent_spaces_secrets::Variables;
    use serde_json::json;
    use std::collections::BTreeMap;
    use url::Url;

    fn settings(base_url: Option<&str>) -> Result<SlackSettings, String> {
        let mut slack = json!({ "appToken": "${APP}", "botToken": "xoxb-1", "agent": "planner" });
        if let Some(url) = base_url {
            slack["baseUrl"] = url.into();
        }
        let config = agent_spaces_config::from_value("f", json!({ "slack": slack })).unwrap();
        let variables = Variables::from_map(BTreeMap::from([("APP".to_owned(), "xapp-1".to_owned())]));
        SlackSettings::of(&config.slack.unwrap(), &variables)
    }

    #[test]
    fn variables_are_filled_in_and_not_shown() {
        let settings = settings(None).unwrap();
        assert_eq!(settings.app_token.as_ref().unwrap().expose(), "xapp-1");
        assert_eq!(settings.base_url.as_str(), "https://slack.com/api/");
        assert!(!format!("{settings:?}").contains("xapp"));
    }

    #[test]
    fn tokens_are_sent_over_tls_or_within_this_machine() {
        assert_eq!(base("http://127.0.0.1:9/api").unwrap().as_str(), "http://127.0.0.1:9/api/");
        for wrong in ["http://slack.example/api/", "ftp://slack.com/", "https://slack.com/api/?a=1", "slack.com"] {
            assert!(base(wrong).is_none(), "{wrong}");
        }
        assert!(settings(Some("http://slack.example/")).is_err());
    }

    #[test]
    fn answers_go_to_slack_alone() {
        let settings = settings(None).unwrap();
        let allows = |url: &str| settings.allows_response_url(&Url::parse(url).unwrap());
        assert!(allows("https://hooks.slack.com/commands/T1/2/x"));
        for wrong in [
            "http://hooks.slack.com/commands/x",
            "https://hooks.slack.com.example/x",
            "https://hooks.slack.com:8443/x",
            "https://user@hooks.slack.com/x",
            "http://169.254.169.254/latest",
            "https://example.com/",
        ] {
            assert!(!allows(wrong), "{wrong}");
        }
    }
}
