//! Installation folder of a program, which it must be able to read.

use super::private_folders::PrivateFolders;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Paths that a program must read to start: itself, the folders of `PATH`, and the installation that it belongs to.
///
/// Runtimes that a user installed lie in the home folder, such as `~/.nvm/versions/node/v22/bin/node` with
/// `~/.nvm/versions/node/v22/lib`. A folder that contains `bin` and `lib` counts as an installation. The target of a
/// Python environment's interpreter link is included too.
pub(super) fn installation(program: &str, cwd: &Path, path: Option<&OsStr>, private: &PrivateFolders) -> Vec<PathBuf> {
    let folders: Vec<PathBuf> = path
        .map(|path| std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect())
        .unwrap_or_default();
    let found = match program.contains('/') {
        true => Some(cwd.join(program)),
        false => folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file()),
    };
    let mut read: Vec<PathBuf> = folders.into_iter().filter(|folder| !private.is_exposed_by(folder)).collect();
    let Some(found) = found else { return read };
    // A symlink may lead from one installation into another: both are needed.
    let mut roots: Vec<PathBuf> = [found.parent().and_then(|folder| folder.canonicalize().ok()), parent_of(&found)]
        .into_iter()
        .flatten()
        .filter_map(|folder| root(&folder))
        .collect();
    let interpreters = roots.iter().filter_map(|root| parent_of(&root.join("bin/python3")));
    let interpreters: Vec<PathBuf> = interpreters.filter_map(|folder| root(&folder)).collect();
    roots.extend(interpreters);
    read.extend(roots.into_iter().filter(|root| !private.is_exposed_by(root)));
    read.push(found);
    read
}

/// Folder of a file after resolving symlinks.
fn parent_of(file: &Path) -> Option<PathBuf> {
    Some(file.canonicalize().ok()?.parent()?.to_owned())
}

/// Installation that a `bin` folder belongs to.
fn root(folder: &Path) -> Option<PathBuf> {
    let root = folder.parent().filter(|root| folder.ends_with("bin") && root.join("lib").is_dir())?;
    Some(root.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use crate::confinement::program::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn make(file: &Path) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }

    #[test]
    fn a_program_can_read_its_installation_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let at = |path: &str| folder.join(path);
        for file in
            ["node/bin/node", "node/lib/npm/bin/npx.js", "node/lib/npm/lib/x.js", "cargo/bin/tool", "cargo/token"]
        {
            make(&at(file));
        }
        symlink(at("node/lib/npm/bin/npx.js"), at("node/bin/npx")).unwrap();
        let path = std::env::join_paths([at("node/bin"), at("cargo/bin")]).unwrap();
        let private = PrivateFolders::new([]);
        let read = |program: &str| installation(program, &folder, Some(&path), &private);
        let of_path = [at("node/bin"), at("cargo/bin")];
        assert_eq!(read("npx"), [&of_path[..], &[at("node"), at("node/lib/npm"), at("node/bin/npx")]].concat());
        assert_eq!(read("tool"), [&of_path[..], &[at("cargo/bin/tool")]].concat(), "a token beside it was opened");
        assert_eq!(read("./cargo/token"), [&of_path[..], &[at("./cargo/token")]].concat());
        assert_eq!(read("absent"), of_path);
    }

    #[test]
    fn the_interpreter_behind_a_python_environment_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let at = |path: &str| folder.join(path);
        for file in ["python/bin/python3.12", "python/lib/os.py", "venv/bin/server", "venv/lib/server.py"] {
            make(&at(file));
        }
        symlink(at("python/bin/python3.12"), at("venv/bin/python3")).unwrap();
        let read = installation("./venv/bin/server", &folder, None, &PrivateFolders::new([]));
        assert!(read.contains(&at("venv")) && read.contains(&at("python")), "{read:?}");
    }

    #[test]
    fn an_installation_that_exposes_a_private_folder_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let at = |path: &str| folder.join(path);
        for file in ["local/bin/uvx", "local/lib/x", "local/state/tokens"] {
            make(&at(file));
        }
        let path = std::env::join_paths([at("local/bin"), folder.clone()]).unwrap();
        let read = installation("uvx", &folder, Some(&path), &PrivateFolders::new([at("local/state").as_path()]));
        assert_eq!(read, [at("local/bin"), at("local/bin/uvx")]);
    }
}
