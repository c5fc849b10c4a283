//! Checks of spaces: the same errors as `run`.

use super::super::failure::Failure;
use super::check::Check;
use agent_spaces::Engine;
use agent_spaces::project::{Project, ProjectError, ToldOnce};
use capability_gen::counted::counted;

/// Fix of a policy rule that matches no function.
const RULE_FIX: &str =
    "name the function as scripts call it (`agent-spaces capabilities list` shows them), or remove the rule";

/// Checks the global capabilities and each space.
pub(super) fn checks(project: &Project, engine: &Engine) -> Vec<Check> {
    let named: Vec<&str> = project.config().spaces.keys().map(String::as_str).collect();
    let (mut checks, told) = (Vec::new(), ToldOnce::default());
    let mut is_broken = false;
    // Global capabilities come first: their errors repeat in every space.
    for space in std::iter::once(None).chain(named.iter().copied().map(Some)) {
        let subject = space.map_or_else(|| "global capabilities".to_owned(), |space| format!("space {space}"));
        match examine(project, space, engine) {
            Ok(Examined { switched_off, unused }) => {
                for (server, switch) in switched_off {
                    if told.is_new(&format!("off {server}")) {
                        let message = format!("`mcp:{server}` is granted, but switched off at {switch}");
                        let check = Check::warning(&subject, message);
                        checks.push(check.fix("switch it on, or remove it from the list"));
                    }
                }
                for rule in unused {
                    if told.is_new(&rule) {
                        checks.push(Check::warning("policy", rule).fix(RULE_FIX));
                    }
                }
            }
            Err(error) => {
                is_broken = true;
                let failure = Failure::from(error);
                if told.is_new(&failure.error.message) {
                    checks.push(super::failed(&subject, &failure));
                }
            }
        }
    }
    if let Some(note) = project.ungiven_note() {
        checks.push(Check::warning("capabilities", note.message).fix(note.fix));
    }
    if !is_broken && !named.is_empty() {
        checks.insert(0, Check::fine("spaces", format!("{} can be used", counted(named.len(), "space"))));
    }
    checks
}

/// Warnings of a valid space.
struct Examined {
    /// Granted servers that are switched off, and where.
    switched_off: Vec<(String, String)>,
    /// Policy rules that match no function.
    unused: Vec<String>,
}

/// Returns the warnings of a space, or its error.
fn examine(project: &Project, space: Option<&str>, engine: &Engine) -> Result<Examined, ProjectError> {
    let modules = project.space(space)?;
    modules.assemble(engine)?;
    let unused = modules.unused_rules(&modules.policy())?;
    Ok(Examined {
        switched_off: modules.switched_off.iter().map(|server| (server.name.clone(), server.switch())).collect(),
        unused: unused.iter().map(ToString::to_string).collect(),
    })
}
