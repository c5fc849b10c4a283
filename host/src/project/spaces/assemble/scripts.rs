//! Scripts that answer functions, in spaces of the project.
//!
//! A space is made once for all scripts of a folder that run in it, however many lead there and though some lead back:
//! what calls itself is found when it does.

use super::Linking;
use crate::project::Project;
use crate::project::definitions::DefinitionFile;
use crate::project::equipment::Equipment;
use crate::project::error::ProjectError;
use crate::providers::{Provider, ProviderKind, Refusing, ScriptProvider, ScriptSpace};
use crate::workspace::Workspace;
use capability_gen::implementation::ScriptReference;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Spaces that are made for the scripts that one script can reach.
const MAX_SPACES: usize = 64;

/// What a script's file is called at its end. Anything else would be read as a module as well, such as a JSON file of
/// the user's.
const EXTENSIONS: [&str; 4] = ["ts", "js", "mts", "mjs"];

/// The spaces that were made for scripts, by the space's name and the scripts' folder.
#[derive(Default)]
pub(super) struct ScriptSpaces {
    made: RefCell<BTreeMap<(Option<String>, PathBuf), ScriptSpace>>,
}

/// What answers a function by running a script.
pub(super) fn provider(
    definition: &DefinitionFile,
    script: &ScriptReference,
    linking: &Linking<'_>,
) -> Result<Arc<dyn Provider>, ProjectError> {
    let refuse = |message: String, fix: &str| refuse(definition, message, fix);
    let Some(project) = linking.modules.project else {
        return Err(refuse("a script that answers needs a configuration".into(), "Add agent-spaces.config.json"));
    };
    let file = checked_file(definition, script, project)?;
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let key = (script.space.clone(), folder);
    let known = linking.scripts.made.borrow().get(&key).map(ScriptSpace::again);
    let space = match known {
        Some(space) => space,
        None if linking.scripts.made.borrow().len() >= MAX_SPACES => {
            let why = format!("More than {MAX_SPACES} spaces would be made for scripts that call one another");
            return Ok(Arc::new(Refusing { kind: ProviderKind::Space, code: "call.unavailable", why }));
        }
        None => {
            let space = ScriptSpace::default();
            // Known before it is made: its own scripts may lead back to it.
            linking.scripts.made.borrow_mut().insert(key.clone(), space.above());
            let modules = project.space(script.space.as_deref())?;
            // The folder that a caller names is for its own script.
            let equipment = Equipment { workspace: None, ..linking.equipment.clone() };
            let made = modules.assemble_under(linking.engine, &equipment, linking.scripts)?;
            let workspace = Workspace::open(&key.1).map_err(|error| {
                refuse(
                    format!("{}: {error}", key.1.display()),
                    "Keep the script in a folder of its own that can be read",
                )
            })?;
            space.fill(made.with_workspace(workspace));
            linking.scripts.made.borrow_mut().insert(key, space.again());
            space
        }
    };
    let limits = project.limits(script.space.as_deref());
    Ok(Arc::new(ScriptProvider::new(file, script.space.clone(), space, limits)))
}

/// The script's file, where a definition may name it.
fn checked_file(
    definition: &DefinitionFile,
    script: &ScriptReference,
    project: &Project,
) -> Result<PathBuf, ProjectError> {
    let refuse = |message: String, fix: &str| refuse(definition, message, fix);
    if definition.is_of_package {
        let message = "a definition of an npm package may run no script in a space of the project";
        return Err(refuse(message.into(), "Copy the definition into the project, if you mean it to"));
    }
    let named = definition.script_file(script);
    let Some(file) = named.canonicalize().ok().filter(|file| file.is_file()) else {
        return Err(refuse(format!("there is no script {}", named.display()), "Name the script from this file"));
    };
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !EXTENSIONS.contains(&extension) {
        let message = format!("{} is no script", named.display());
        return Err(refuse(message, "Name a file that ends in .ts, .js, .mts or .mjs"));
    }
    if !project.folder().canonicalize().is_ok_and(|folder| file.starts_with(folder)) {
        let message = format!("{} lies outside the project", named.display());
        return Err(refuse(message, "Move it into the folder of the configuration, or below"));
    }
    Ok(file)
}

impl DefinitionFile {
    /// Where a script that it names lies.
    pub(in crate::project) fn script_file(&self, script: &ScriptReference) -> PathBuf {
        self.path.with_file_name(&script.file)
    }
}

fn refuse(definition: &DefinitionFile, message: String, fix: &str) -> ProjectError {
    ProjectError::Unknown { place: definition.path.display().to_string(), message, fix: fix.to_owned() }
}
