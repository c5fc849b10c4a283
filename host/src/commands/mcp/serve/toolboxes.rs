//! The toolboxes that are served, and what their calls need.

use super::preset;
use crate::commands::clients::Session;
use crate::commands::failure::Failure;
use crate::commands::space_choice::{Found, SpaceChoice};
use crate::commands::{approvals, folders, terminal};
use agent_spaces::mcp::Acceptance;
use agent_spaces::serve::{ElicitedDecisions, ServedChannel, Toolboxes};
use std::sync::Arc;
use tokio::runtime::Handle;

/// Those of the configuration here.
pub(super) fn open(
    choice: &SpaceChoice,
    is_traced: bool,
    runtime: Handle,
    decisions: ElicitedDecisions,
) -> Result<(Session, Toolboxes), Failure> {
    let engine = folders::engine(true)?;
    let found = choice.find_here(&engine)?;
    // A space that is not there is refused.
    choice.modules(&found)?;
    let Found::Project(project) = found else {
        let hint = "add agent-spaces.config.json with `toolboxes`, or name one with --config";
        return Err(Failure::new("config.file", "toolbox mode needs a configuration, and none was found", Some(hint)));
    };
    preset::check_switch(&project)?;
    if let Some(obstacle) = project.acceptance().and_then(Acceptance::obstacle) {
        // Agents hear nothing of what stands in it.
        terminal::warn(&terminal::clean_line(&format!("no toolbox is served: {obstacle}")));
    }
    if project.toolboxes().is_empty() {
        terminal::warn(&format!("{}: it has no `toolboxes`", project.config().file));
    }
    let mut session = Session::serving(Some(&project), is_traced, runtime)?;
    session.ask_through(Arc::new(ServedChannel::new(decisions, approvals::store_channel())));
    let (clients, equipment) = (session.clients(), session.equipment());
    let toolboxes = Toolboxes::new(*project, choice.space(), engine, clients, equipment, folders::outlines());
    let toolboxes = toolboxes.started_with(choice.argument());
    Ok((session, toolboxes))
}
