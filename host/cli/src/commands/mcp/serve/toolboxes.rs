//! Toolboxes to serve, and their session.

use crate::commands::failure::Failure;
use crate::commands::serving::settings;
use crate::commands::session::Session;
use crate::commands::space_choice::{Found, SpaceChoice};
use crate::commands::{approvals, folders, terminal};
use agent_spaces::Code;
use agent_spaces::serve::{ElicitedDecisions, ServedChannel, Toolboxes};
use agent_spaces::trust::Acceptance;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Opens the toolboxes of the configuration.
pub(super) fn open(
    choice: &SpaceChoice,
    is_traced: bool,
    runtime: Handle,
    decisions: ElicitedDecisions,
) -> Result<(Session, Toolboxes), Failure> {
    let engine = folders::engine(true)?;
    let found = choice.find_here(&engine)?;
    // Refuses an unknown space.
    choice.modules(&found)?;
    let Found::Project(project) = found else {
        let hint = "add agent-spaces.config.json with `toolboxes`, or name one with --config";
        return Err(Failure::new(
            Code::ConfigFile,
            "toolbox mode needs a configuration, and none was found",
            Some(hint),
        ));
    };
    settings::check_switch(&project)?;
    if let Some(obstacle) = project.acceptance().and_then(Acceptance::obstacle) {
        // Agents get no details of an unaccepted configuration.
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
