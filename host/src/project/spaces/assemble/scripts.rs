//! Scripts that answer functions, each in a space of its own.

use super::Linking;
use crate::project::definitions::DefinitionFile;
use crate::project::equipment::Equipment;
use crate::project::error::ProjectError;
use crate::providers::{Provider, ProviderKind, Refusing, ScriptProvider};
use crate::workspace::Workspace;
use capability_gen::implementation::ScriptReference;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Scripts that answer calls of scripts that answer calls.
const MAX_DEPTH: usize = 4;

/// Spaces that are made for the scripts that one script can reach.
const MAX_SPACES: usize = 64;

/// The scripts that lead to a space, the first one first.
#[derive(Clone, Default)]
pub(super) struct Chain {
    links: Vec<(PathBuf, Option<String>)>,
    /// All spaces that were made on the way, by all branches.
    spaces: Rc<Cell<usize>>,
}

/// What answers a function by running a script.
pub(super) fn provider(
    definition: &DefinitionFile,
    script: &ScriptReference,
    linking: &Linking<'_>,
) -> Result<Arc<dyn Provider>, ProjectError> {
    let file = definition.path.with_file_name(&script.file);
    let fail = |message: String, fix: &str| ProjectError::Unknown {
        place: definition.path.display().to_string(),
        message,
        fix: fix.to_owned(),
    };
    if !file.is_file() {
        return Err(fail(format!("there is no script {}", file.display()), "Name the script from this file"));
    }
    let link = (file.canonicalize().unwrap_or_else(|_| file.clone()), script.space.clone());
    if linking.chain.links.contains(&link) {
        return Ok(refusing(format!("{} would call itself", file.display())));
    }
    if linking.chain.links.len() >= MAX_DEPTH {
        return Ok(refusing(format!("more than {MAX_DEPTH} scripts would call one another")));
    }
    let spaces = linking.chain.spaces.get() + 1;
    if spaces > MAX_SPACES {
        let message = format!("more than {MAX_SPACES} spaces would be made for scripts that call one another");
        return Err(fail(message, "Give the spaces of scripts fewer scripts"));
    }
    linking.chain.spaces.set(spaces);
    let mut chain = linking.chain.clone();
    chain.links.push(link);
    let Some(project) = linking.modules.project else {
        return Err(fail("a script that answers needs a configuration".into(), "Add agent-spaces.config.json"));
    };
    let modules = project.space(script.space.as_deref())?;
    // The folder that a caller names is for its own script.
    let equipment = Equipment { workspace: None, ..linking.equipment.clone() };
    let space = modules.assemble_under(linking.engine, &equipment, &chain)?;
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let workspace =
        Workspace::open(folder).map_err(|error| fail(format!("{}: {error}", folder.display()), "Look there"))?;
    let limits = project.limits(script.space.as_deref());
    Ok(Arc::new(ScriptProvider::new(file, script.space.clone(), space.with_workspace(workspace), limits)))
}

fn refusing(why: String) -> Arc<dyn Provider> {
    Arc::new(Refusing { kind: ProviderKind::Space, code: "call.denied", why })
}
