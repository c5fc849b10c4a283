//! What a model is taught when it connects.

use crate::project::ProjectToolbox;
use capability_gen::counted::counted;
use std::collections::BTreeMap;

/// What is said where the configuration was not accepted. Neither names nor descriptions: they are a stranger's words.
pub(super) const NOT_ACCEPTED: &str =
    "the configuration was not accepted, or has changed since: its user can read it and run `agent-spaces trust`";

/// The same as instructions.
pub(super) fn not_accepted() -> String {
    format!("## Available Toolboxes\n\nThere are none: {NOT_ACCEPTED}.")
}

/// The toolboxes, and how to open one.
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
