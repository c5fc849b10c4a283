//! Summary of the Slack app, for the user who accepts a file.

use super::startup::{MAX_LINE, address, note, variables};
use agent_spaces_config::{Raw, Slack};
use agent_spaces_types::command_line::{cut, word};

/// Says who may ask which agent, with the variables that are read for tokens. Values are never shown.
pub(super) fn opens_slack(slack: &Slack) -> String {
    let tokens = [&slack.app_token, &slack.signing_secret, &slack.base_url].into_iter().flatten();
    let read = note("reads", variables(tokens.chain([&slack.bot_token]).map(Raw::expose)));
    let read = read.map(|read| format!(" ({read})")).unwrap_or_default();
    let at = slack.base_url.as_ref().map(|url| format!(" at {}", address(url.expose()))).unwrap_or_default();
    let approvers = match slack.approvers.len() {
        0 => String::new(),
        1 => ", and 1 of them approves its calls".to_owned(),
        count => format!(", and {count} of them approve its calls"),
    };
    cut(format!("Slack{at}: people there ask the agent {}{approvers}{read}", word(&slack.agent)), MAX_LINE)
}

#[cfg(test)]
mod tests {
    use crate::summary::opens;
    use agent_spaces_config::from_value;
    use serde_json::json;

    #[test]
    fn people_and_variables_are_listed_without_values() {
        let slack = json!({
            "appToken": "${SLACK_APP_TOKEN}", "botToken": "xoxb-hunter2", "agent": "planner", "approvers": ["U1", "U2"],
        });
        let config = from_value("f", json!({ "slack": slack })).unwrap();
        let lines = opens(&config).join("\n");
        assert!(
            lines.contains("Slack: people there ask the agent planner, and 2 of them approve its calls"),
            "{lines}"
        );
        assert!(lines.contains("SLACK_APP_TOKEN") && !lines.contains("hunter2"), "{lines}");
    }
}
