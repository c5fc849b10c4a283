//! Search for a TypeScript compiler.

use super::unavailable::Unavailable;
use agent_spaces_providers::command::{is_runnable, on_path};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// Names to look for in the `PATH`: the native compiler first, which is several times as fast.
const NAMES: [&str; 2] = ["tsgo", "tsc"];

/// Command of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    pub(super) program: PathBuf,
    /// Script that `program` (Node) runs, for a compiler in JavaScript.
    pub(super) script: Option<PathBuf>,
}

impl Compiler {
    /// Returns the configured compiler, or the first one in `path`.
    pub(super) fn find(named: Option<&Path>, path: Option<&OsStr>) -> Result<Compiler, Unavailable> {
        let Some(named) = named else {
            let found = NAMES.iter().find_map(|name| look_up(name, path));
            return found.map(|program| Compiler { program, script: None }).ok_or(Unavailable::NotFound);
        };
        // It runs in another working directory.
        let named = std::path::absolute(named).map_err(|_| Unavailable::NotAProgram(named.to_owned()))?;
        let is_script =
            named.extension().is_some_and(|extension| ["js", "mjs", "cjs"].iter().any(|it| extension == *it));
        if is_script && named.is_file() {
            let node = look_up("node", path).ok_or_else(|| Unavailable::NoNode(named.clone()))?;
            return Ok(Compiler { program: node, script: Some(named) });
        }
        match is_runnable(&named) && !is_script {
            true => Ok(Compiler { program: named, script: None }),
            false => Err(Unavailable::NotAProgram(named)),
        }
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.script.as_ref().unwrap_or(&self.program).display())
    }
}

fn look_up(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    on_path(&format!("{name}{}", std::env::consts::EXE_SUFFIX), path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use crate::check::compiler::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let file = folder.join(name);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn the_native_compiler_is_preferred_and_files_that_cannot_run_are_skipped() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = std::env::join_paths([Path::new("."), first.path(), second.path()]).unwrap();
        let find = || Compiler::find(None, Some(&path)).map(|compiler| compiler.program);
        assert_eq!(find(), Err(Unavailable::NotFound));
        program(first.path(), "tsgo", 0o644);
        let tsc = program(first.path(), "tsc", 0o755);
        assert_eq!(find(), Ok(tsc));
        let tsgo = program(second.path(), "tsgo", 0o755);
        assert_eq!(find(), Ok(tsgo));
        assert_eq!(Compiler::find(None, None), Err(Unavailable::NotFound));
    }

    #[test]
    fn a_configured_compiler_has_no_fallback() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().as_os_str();
        program(folder.path(), "tsc", 0o755);
        let script = program(folder.path(), "tsc.js", 0o644);
        let find = |named: &Path| Compiler::find(Some(named), Some(path));
        assert_eq!(find(&script), Err(Unavailable::NoNode(script.clone())));
        let node = program(folder.path(), "node", 0o755);
        assert_eq!(find(&script), Ok(Compiler { program: node, script: Some(script) }));
        let own = program(folder.path(), "my-tsc", 0o755);
        assert_eq!(find(&own), Ok(Compiler { program: own, script: None }));
        for missing in ["nothing", "nothing.js"].map(|name| folder.path().join(name)) {
            assert_eq!(find(&missing), Err(Unavailable::NotAProgram(missing.clone())));
        }
    }
}
