//! Checks of the configuration.

use super::super::config_choice::ConfigChoice;
use super::super::shell_word::shell_word;
use super::check::Check;
use agent_spaces::project::Project;
use agent_spaces::trust::Status;
use capability_gen::counted::counted;
use std::path::Path;

/// Maximum number of warnings.
const MAX_WARNINGS: usize = 10;

/// Checks the configuration that is used here.
pub(super) fn checks(project: Option<&Project>, choice: &ConfigChoice) -> Vec<Check> {
    let Some(project) = project else {
        let check = Check::warning("configuration", "none was found, here or in your configuration folder");
        return vec![check.fix("agent-spaces init")];
    };
    let mut checks = vec![configuration(project)];
    if let Ok(Some(located)) = choice.locate() {
        checks.push(Check::note("configuration", format!("reason: {}", located.reason())));
    }
    let warnings = project.warnings();
    checks.extend(warnings.iter().take(MAX_WARNINGS).map(|warning| Check::warning("configuration", warning)));
    if let Some(more) = warnings.len().checked_sub(MAX_WARNINGS).filter(|more| *more > 0) {
        checks.push(Check::warning("configuration", format!("and {}", counted(more, "more warning"))));
    }
    checks
}

fn configuration(project: &Project) -> Check {
    let count = project.servers().len();
    let mut servers = counted(count, "MCP server").to_string();
    if !project.toolboxes().is_empty() {
        servers += &format!(", {}", counted(project.toolboxes().len(), "toolbox"));
    }
    let Some(acceptance) = project.acceptance() else {
        let folder = project.folder().display();
        return Check::fine("configuration", format!("{servers} from files of other programs in {folder}"));
    };
    let file = acceptance.file.display();
    match acceptance.status {
        Status::Accepted => Check::fine("configuration", format!("{file}, {servers}")),
        Status::New => Check::broken("configuration", format!("{file} is not accepted yet, so it starts nothing"), 2)
            .fix(trust(&acceptance.file)),
        Status::Changed => {
            Check::broken("configuration", format!("{file} has changed since it was accepted, so it starts nothing"), 2)
                .fix(trust(&acceptance.file))
        }
    }
}

/// Returns the fix for a file that is not accepted.
pub(super) fn trust(file: &Path) -> String {
    format!("read it, then run `agent-spaces trust {}`", shell_word(&file.display().to_string()))
}
