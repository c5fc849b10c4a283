//! Progress of a question, as text for people.

use agent_spaces_agent::AgentEvent;
use agent_spaces_types::shown::Shown;

/// Maximum length of a tool's name. Models make names up.
const MAX_NAME: usize = 100;

/// Returns what is told of an event, if anything.
pub(crate) fn of(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::Turn { number } => Some(format!("turn {number}")),
        AgentEvent::CallStarted { name, .. } => Some(format!("calls {}", Shown::line(name, MAX_NAME))),
        AgentEvent::ApprovalRequired { .. } => Some("waits for an approval".to_owned()),
        _ => None,
    }
}
