//! Scripts that answer functions, in spaces of the project.
//!
//! Scripts of one folder that run in the same space share one instance of it, also if they call each other in a cycle.
//! Recursion is detected at the call.

use super::providers::Linking;
use crate::Project;
use crate::definitions::DefinitionFile;
use crate::error::ProjectError;
use crate::host_services::Equipment;
use agent_spaces_calls::provider::Provider;
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_providers::{ScriptProvider, ScriptSpace, Unavailable};
use agent_spaces_types::code::Code;
use agent_spaces_types::provider_kind::ProviderKind;
use capability_gen::implementation::ScriptReference;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most spaces made for the scripts that one script can reach.
const MAX_SPACES: usize = 64;

/// File extensions of scripts. Any other file, such as a JSON file of the user's, would be read as a module too.
const EXTENSIONS: [&str; 4] = ["ts", "js", "mts", "mjs"];

/// Spaces made for scripts, by the space's name and the scripts' folder.
#[derive(Default)]
pub(super) struct ScriptSpaces {
    made: RefCell<BTreeMap<(Option<String>, PathBuf), ScriptSpace>>,
}

/// Provider that answers a function by running a script.
pub(super) fn provider(
    definition: &DefinitionFile,
    script: &ScriptReference,
    linking: &Linking<'_>,
) -> Result<Arc<dyn Provider>, ProjectError> {
    let refuse = |message: String, fix: &str| refuse(definition, message, fix);
    let Some(project) = linking.modules.project else {
        return Err(refuse("a script as provider needs a configuration".into(), "Add agent-spaces.config.json"));
    };
    let file = checked_file(definition, script, project)?;
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let key = (script.space.clone(), folder);
    let known = linking.scripts.made.borrow().get(&key).map(ScriptSpace::again);
    let space = match known {
        Some(space) => space,
        None if linking.scripts.made.borrow().len() >= MAX_SPACES => {
            let why = format!("Limit of {MAX_SPACES} spaces for scripts that call one another reached");
            return Ok(Arc::new(Unavailable { kind: ProviderKind::Space, code: Code::CallUnavailable, why }));
        }
        None => {
            let space = ScriptSpace::default();
            // Registered before it is assembled: its own scripts may call back into it.
            linking.scripts.made.borrow_mut().insert(key.clone(), space.above());
            let modules = project.space(script.space.as_deref())?;
            // The caller's workspace override is for its own script only.
            let equipment = Equipment { workspace: None, ..linking.equipment.clone() };
            let made = modules.builder_under(linking.engine, &equipment, linking.scripts)?;
            let workspace = Workspace::open(&key.1).map_err(|error| {
                refuse(
                    format!("{}: {error}", key.1.display()),
                    "Keep the script in a folder of its own that can be read",
                )
            })?;
            space.fill(made.workspace(workspace))?;
            linking.scripts.made.borrow_mut().insert(key, space.again());
            space
        }
    };
    let limits = project.limits(script.space.as_deref());
    Ok(Arc::new(ScriptProvider::new(file, script.space.clone(), space, limits)))
}

/// Path of the script. Refuses a file that the definition may not run.
fn checked_file(
    definition: &DefinitionFile,
    script: &ScriptReference,
    project: &Project,
) -> Result<PathBuf, ProjectError> {
    let refuse = |message: String, fix: &str| refuse(definition, message, fix);
    if definition.is_of_package {
        let message = "a definition of an npm package may not run a script in a space of the project";
        return Err(refuse(message.into(), "Copy the definition into the project to allow it"));
    }
    let named = definition.script_file(script);
    let Some(file) = named.canonicalize().ok().filter(|file| file.is_file()) else {
        return Err(refuse(format!("there is no script {}", named.display()), "Write its path relative to this file"));
    };
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !EXTENSIONS.contains(&extension) {
        let message = format!("{} is not a script", named.display());
        return Err(refuse(message, "Name a file that ends in .ts, .js, .mts or .mjs"));
    }
    if !project.folder().canonicalize().is_ok_and(|folder| file.starts_with(folder)) {
        let message = format!("{} is outside the project", named.display());
        return Err(refuse(message, "Move it into the folder of the configuration, or below"));
    }
    Ok(file)
}

impl DefinitionFile {
    /// Path of a script that it names.
    pub(crate) fn script_file(&self, script: &ScriptReference) -> PathBuf {
        self.path.with_file_name(&script.file)
    }
}

fn refuse(definition: &DefinitionFile, message: String, fix: &str) -> ProjectError {
    ProjectError::Unknown { place: definition.path.display().to_string(), message, fix: fix.to_owned() }
}
