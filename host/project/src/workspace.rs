//! Workspace folders of spaces, and the check that they contain nothing that controls scripts.

use super::Project;
use super::commands::DefinedCommands;
use super::definitions::{DefinitionBody, DefinitionFile};
use super::error::ProjectError;
use super::find::join;
use agent_spaces_config::Entry;
use agent_spaces_protected_paths::{Access, closed_folder};
use capability_gen::implementation::Implementation;
use std::path::{Path, PathBuf};

impl Project {
    /// Workspace of a space, if it has one: an existing folder that contains nothing that controls scripts. The
    /// workspace of a configuration that was not accepted is ignored.
    pub fn workspace(&self, space: Option<&str>) -> Result<Option<PathBuf>, ProjectError> {
        let Some(space) = space else { return Ok(None) };
        let named = self.config.spaces.get(space).and_then(|space| space.workspace.as_deref());
        let Some(named) = named.filter(|_| self.is_accepted()) else { return Ok(None) };
        let place = format!("{}: {}.workspace", self.config.file, self.config.place_of_space(space));
        self.checked_workspace(&join(&self.folder, named), &place).map(Some)
    }

    /// Checks a folder as a workspace. `place` is the position that names it, for errors.
    pub fn checked_workspace(&self, folder: &Path, place: &str) -> Result<PathBuf, ProjectError> {
        let own = [".agent-spaces", ".mcp.json", ".ai-agent.json"].map(|name| self.folder.join(name));
        // Without a configuration `file` is the folder.
        let config = Some(PathBuf::from(&self.config.file)).filter(|file| !file.is_dir());
        let entries = self.config.spaces.values().flat_map(|space| &space.capabilities).chain(&self.config.global);
        // A folder of definitions may still be empty.
        let named = entries.filter_map(|entry| match entry {
            Entry::Path { path, .. } => Some(join(&self.folder, path)),
            _ => None,
        });
        let own = config.into_iter().chain(own).chain([self.lock_file()]).chain(named);
        let definitions = self.definitions.iter().flat_map(|definition| definition.protected(&self.folder));
        check_workspace(folder, own.chain(definitions).chain(self.protected.iter().cloned()), place)
    }
}

impl DefinitionFile {
    /// Files and folders that control its calls: the definition; its handlers and scripts with the folders that they
    /// import from; its components; and the files of its programs.
    pub fn protected(&self, project: &Path) -> Vec<PathBuf> {
        let mut files = vec![self.path.clone()];
        if let DefinitionBody::Module(module) = &self.body {
            for interface in &module.outline.interfaces {
                files.extend(interface.component.iter().map(|component| self.path.with_file_name(component)));
            }
        }
        let code = self.handlers.clone().into_iter().chain(self.scripts());
        for file in code {
            let folder = file.parent().map(or_here);
            let is_projects = |folder: &&Path| folder.canonicalize().ok() == or_here(project).canonicalize().ok();
            files.extend(folder.filter(|folder| !is_projects(folder)).map(Path::to_owned));
            files.push(file);
        }
        files.extend(self.commands.iter().flat_map(DefinedCommands::files));
        files
    }

    /// Scripts that answer its functions.
    fn scripts(&self) -> Vec<PathBuf> {
        let DefinitionBody::Module(module) = &self.body else { return Vec::new() };
        let answers = module.outline.interfaces.iter().flat_map(|interface| interface.implementations.values());
        let scripts = answers.filter_map(|answer| match answer {
            Implementation::Script(script) => Some(self.script_file(script)),
            _ => None,
        });
        scripts.collect()
    }
}

/// The folder of a bare file name is empty, and means the current one.
fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Checks a folder as a workspace. Refuses a folder that is closed to scripts or overlaps a protected path.
pub fn check_workspace(
    folder: &Path,
    protected: impl IntoIterator<Item = PathBuf>,
    place: &str,
) -> Result<PathBuf, ProjectError> {
    let refuse =
        |message: String, fix: &str| ProjectError::Unknown { place: place.to_owned(), message, fix: fix.to_owned() };
    let workspace = folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        refuse(format!("there is no folder {}", folder.display()), "Create the folder, or name another")
    })?;
    closed_folder::check(&workspace, Access::Write, &[]).map_err(|closed| {
        let message = format!("{} cannot be a workspace: {closed}", workspace.display());
        refuse(message, "Name a folder of its own inside it or elsewhere, such as `./workspace`")
    })?;
    for path in protected {
        let real = closed_folder::real(&path);
        if real.starts_with(&workspace) || (real.is_dir() && workspace.starts_with(&real)) {
            let message = format!(
                "the workspace {} and {} overlap: a script could change the files that control it",
                workspace.display(),
                path.display()
            );
            return Err(refuse(message, "Name a folder of its own, such as `./workspace`"));
        }
    }
    Ok(workspace)
}

#[cfg(test)]
mod tests {
    use crate::workspace::check_workspace;
    use std::fs;

    #[test]
    fn a_workspace_that_overlaps_a_protected_path_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["state/keys", "project/workspace/deep", "project/.agent-spaces"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("project/agent-spaces.config.json"), "{}").unwrap();
        let protected = || {
            [
                at("project/agent-spaces.config.json"),
                at("project/capabilities.lock"),
                at("project/.agent-spaces"),
                at("state"),
            ]
        };
        let check = |path: &str| check_workspace(&at(path), protected(), "here").map_err(|error| error.to_string());
        assert_eq!(check("project/workspace"), Ok(at("project/workspace").canonicalize().unwrap()));
        for (path, why) in [
            ("", "overlap"),
            ("project", "overlap"),
            ("state", "overlap"),
            ("state/keys", "overlap"),
            ("project/.agent-spaces", "`.agent-spaces` is closed to scripts"),
        ] {
            let message = check(path).unwrap_err();
            assert!(message.contains(why) && message.contains("here"), "{path}: {message}");
        }
        // A protected path that does not exist yet counts too.
        let coming = [at("project/workspace/../../state/new.json")];
        assert!(check_workspace(&at("state"), coming.clone(), "here").is_err());
        assert!(check_workspace(&at("project/workspace"), coming, "here").is_ok());
        assert!(check("nowhere").unwrap_err().contains("there is no folder"));
        assert!(check("project/agent-spaces.config.json").is_err());
        // A symlink to a parent folder is resolved.
        std::os::unix::fs::symlink(at("project"), at("project/workspace/up")).unwrap();
        assert!(check("project/workspace/up").unwrap_err().contains("overlap"));
    }
}
