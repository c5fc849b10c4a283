//! MCP server instructions of toolbox mode.

use agent_spaces_project::ProjectToolbox;
use agent_spaces_types::counted::counted;
use std::collections::BTreeMap;

/// Message if the configuration was not accepted. It has no names or descriptions, because they are untrusted.
pub(super) const NOT_ACCEPTED: &str =
    "the configuration was not accepted, or has changed since: its user can read it and run `agent-spaces trust`";

/// Builds the instructions if the configuration was not accepted.
pub(super) fn not_accepted() -> String {
    format!("## Available Toolboxes\n\nThere are none: {NOT_ACCEPTED}.")
}

/// Builds the instructions: the toolboxes, and how to open one.
pub(super) fn instructions(toolboxes: &BTreeMap<String, ProjectToolbox>) -> String {
    let mut text = "## Available Toolboxes\n\n".to_owned();
    for (name, toolbox) in toolboxes {
        let (count, description) = (toolbox.servers.len(), &toolbox.description);
        let servers = counted(count, "server");
        text += &format!("- **{name}** ({servers}): {description}\n");
        text += "  - Use `open_toolbox` with toolbox name to access\n\n";
    }
    if toolboxes.is_empty() {
        text += "There are none: the user can add `toolboxes` to agent-spaces.config.json.\n\n";
    }
    text + "To open a toolbox and see available tools:\n\
        1. Call `open_toolbox` with the desired toolbox name\n\
        2. Inspect the returned tools array for available operations"
}
