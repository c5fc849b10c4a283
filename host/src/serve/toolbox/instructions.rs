//! What a model is taught when it connects.

use crate::project::ProjectToolbox;
use std::collections::BTreeMap;

/// The toolboxes, and how to open one.
pub(super) fn instructions(toolboxes: &BTreeMap<String, ProjectToolbox>) -> String {
    let mut text = "## Available Toolboxes\n\n".to_owned();
    for (name, toolbox) in toolboxes {
        let (count, description) = (toolbox.servers.len(), &toolbox.description);
        let plural = if count == 1 { "" } else { "s" };
        text += &format!("- **{name}** ({count} server{plural}): {description}\n");
        text += "  - Use `open_toolbox` with toolbox name to access\n\n";
    }
    if toolboxes.is_empty() {
        text += "There are none: the user can add `toolboxes` to agent-spaces.config.json.\n\n";
    }
    text + "To open a toolbox and see available tools:\n\
        1. Call `open_toolbox` with the desired toolbox name\n\
        2. Inspect the returned tools array for available operations"
}
