//! Where a program is installed, and so what it reads of its own.

use super::closed::Closed;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What is read so that a program can be started: it, all programs of the `PATH`, and the installation that it is a part of.
///
/// Runtimes that a user installed lie in the home folder, such as `~/.nvm/versions/node/v22/bin/node` with
/// `~/.nvm/versions/node/v22/lib`. A folder with `bin` and `lib` in it is taken for such an installation. So is what the
/// interpreter of a Python environment is a link to.
pub(super) fn installation(program: &str, cwd: &Path, path: Option<&OsStr>, closed: &Closed) -> Vec<PathBuf> {
    let folders: Vec<PathBuf> = path
        .map(|path| std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect())
        .unwrap_or_default();
    let found = match program.contains('/') {
        true => Some(cwd.join(program)),
        false => folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file()),
    };
    let mut read: Vec<PathBuf> = folders.into_iter().filter(|folder| !closed.is_in(folder)).collect();
    let Some(found) = found else { return read };
    // A link may lead from one installation into another: both are needed.
    let mut roots: Vec<PathBuf> = [found.parent().and_then(|folder| folder.canonicalize().ok()), parent_of(&found)]
        .into_iter()
        .flatten()
        .filter_map(|folder| root(&folder))
        .collect();
    let interpreters = roots.iter().filter_map(|root| parent_of(&root.join("bin/python3")));
    let interpreters: Vec<PathBuf> = interpreters.filter_map(|folder| root(&folder)).collect();
    roots.extend(interpreters);
    read.extend(roots.into_iter().filter(|root| !closed.is_in(root)));
    read.push(found);
    read
}

/// The folder that a file is really in.
fn parent_of(file: &Path) -> Option<PathBuf> {
    Some(file.canonicalize().ok()?.parent()?.to_owned())
}

/// The installation that a folder of programs belongs to.
fn root(folder: &Path) -> Option<PathBuf> {
    let root = folder.parent().filter(|root| folder.ends_with("bin") && root.join("lib").is_dir())?;
    Some(root.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn make(file: &Path) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }

    #[test]
    fn a_program_brings_its_installation_and_no_more() {
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
        let closed = Closed::new([]);
        let read = |program: &str| installation(program, &folder, Some(&path), &closed);
        let of_path = [at("node/bin"), at("cargo/bin")];
        assert_eq!(read("npx"), [&of_path[..], &[at("node"), at("node/lib/npm"), at("node/bin/npx")]].concat());
        assert_eq!(read("tool"), [&of_path[..], &[at("cargo/bin/tool")]].concat(), "a token beside it was opened");
        assert_eq!(read("./cargo/token"), [&of_path[..], &[at("./cargo/token")]].concat());
        assert_eq!(read("absent"), of_path);
    }

    #[test]
    fn the_interpreter_of_an_environment_is_read_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let at = |path: &str| folder.join(path);
        for file in ["python/bin/python3.12", "python/lib/os.py", "venv/bin/server", "venv/lib/server.py"] {
            make(&at(file));
        }
        symlink(at("python/bin/python3.12"), at("venv/bin/python3")).unwrap();
        let read = installation("./venv/bin/server", &folder, None, &Closed::new([]));
        assert!(read.contains(&at("venv")) && read.contains(&at("python")), "{read:?}");
    }

    #[test]
    fn an_installation_that_holds_a_closed_folder_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let at = |path: &str| folder.join(path);
        for file in ["local/bin/uvx", "local/lib/x", "local/state/tokens"] {
            make(&at(file));
        }
        let path = std::env::join_paths([at("local/bin"), folder.clone()]).unwrap();
        let read = installation("uvx", &folder, Some(&path), &Closed::new([at("local/state").as_path()]));
        assert_eq!(read, [at("local/bin"), at("local/bin/uvx")]);
    }
}
