//! Slack app of the configuration.

use crate::commands::serving::source::Source;
use crate::commands::{known_secrets, terminal};
use agent_spaces::agent::AgentService;
use agent_spaces::config::Slack as Configured;
use agent_spaces::surfaces::{Slack, SlackSettings};
use agent_spaces_mcp::secrets::Variables;

/// Opens the app, if an accepted configuration has one. A server without it is still of use, so what keeps it from being
/// used is a warning.
pub(super) fn open(source: &Source, service: &AgentService, limit: Option<usize>) -> Option<Slack> {
    let project = source.project().filter(|project| project.is_accepted())?;
    let configured = project.config().slack.as_ref()?;
    match connect(configured, source, service, limit) {
        Ok(slack) => Some(slack),
        Err(why) => {
            terminal::warn(&terminal::clean_line(&format!("Slack is not used: {why}")));
            None
        }
    }
}

fn connect(
    configured: &Configured,
    source: &Source,
    service: &AgentService,
    limit: Option<usize>,
) -> Result<Slack, String> {
    let settings = SlackSettings::of(configured, &Variables::of_process())?;
    settings.secrets().for_each(|secret| known_secrets::redactor().add_token(secret));
    service.agent(&settings.agent).map_err(|error| format!("{}.agent: {error}", configured.place))?;
    Slack::new(settings, service, source.store(), limit)
}

/// Stays connected until the app is stopped.
pub(super) async fn run(slack: &Slack) {
    if let Err(why) = slack.run().await {
        terminal::warn(&terminal::clean_line(&format!("Slack is not used any more: {why}")));
    }
}
