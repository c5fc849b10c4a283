//! Script of a command, from a file or stdin.

use super::failure::Failure;
use super::folders;
use agent_spaces::script::MAX_SOURCE_BYTES;
use agent_spaces::{Code, SpaceBuilder, Workspace};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Script, and the folder whose files it may import.
pub(super) struct ScriptFile {
    /// Path within the folder.
    pub(super) name: String,
    pub(super) source: String,
    /// The workspace, or the script's own folder; `None` for stdin without a workspace.
    pub(super) folder: Option<PathBuf>,
    /// True if `folder` is the workspace.
    is_in_workspace: bool,
}

impl ScriptFile {
    /// Reads the script. It may import files of its own folder, or of the workspace if it is inside.
    pub(super) fn read(file: &Path, workspace: Option<&Path>) -> Result<ScriptFile, Failure> {
        if file == Path::new("-") {
            let source = read_text(std::io::stdin().lock(), "stdin")?;
            let folder = workspace.map(Path::to_owned);
            return Ok(ScriptFile { name: "script.ts".into(), source, folder, is_in_workspace: true });
        }
        let shown = file.display();
        let opened = std::fs::File::open(file).map_err(|error| {
            Failure::new(Code::ConfigFile, format!("{shown}: {error}"), Some("name a .ts or .js file, or - for stdin"))
        })?;
        let source = read_text(opened, &shown.to_string())?;
        let parent = folder(file);
        let inside = workspace.and_then(|folder| Some((name_within(file, folder)?, folder, true)));
        let alone = || Some((name_within(file, parent)?, parent, false));
        let (name, folder, is_in_workspace) = inside
            .or_else(alone)
            .ok_or_else(|| Failure::new(Code::ConfigFile, format!("{shown}: its folder cannot be read"), None))?;
        Ok(ScriptFile { name, source, folder: Some(folder.to_owned()), is_in_workspace })
    }

    /// Opens the folder of imports. A script in a home folder or another protected one can import nothing from there.
    pub(super) fn workspace(&self) -> Result<Option<Workspace>, Failure> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let own = folders::protected();
        let opened = match self.is_in_workspace {
            true => Workspace::open_apart_from(folder, &own),
            false => Workspace::beside(&folder.join(&self.name), &own),
        };
        opened
            .map(Some)
            .map_err(|error| Failure::new(Code::ConfigWorkspace, format!("{}: {error}", folder.display()), None))
    }

    /// Lets the scripts of a space import from the folder of imports, if there is one.
    pub(super) fn with_workspace(&self, space: SpaceBuilder) -> Result<SpaceBuilder, Failure> {
        Ok(match self.workspace()? {
            Some(workspace) => space.workspace(workspace),
            None => space,
        })
    }
}

/// Returns the folder of a file.
pub(super) fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn read_text(from: impl Read, shown: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let fail = |message: String| Failure::new(Code::ConfigFile, format!("{shown}: {message}"), None);
    from.take(MAX_SOURCE_BYTES as u64 + 1).read_to_string(&mut text).map_err(|error| fail(error.to_string()))?;
    if text.len() > MAX_SOURCE_BYTES {
        return Err(fail(format!("longer than {MAX_SOURCE_BYTES} bytes")));
    }
    Ok(text)
}

/// Returns the file's path within the folder, with `/` as separator.
fn name_within(file: &Path, folder: &Path) -> Option<String> {
    let (file, folder) = (file.canonicalize().ok()?, folder.canonicalize().ok()?);
    let inside = file.strip_prefix(&folder).ok()?;
    let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    Some(parts.join("/"))
}
