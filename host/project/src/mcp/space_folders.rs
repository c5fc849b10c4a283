//! Folders that servers keep for each space, below the state folder.

use super::configured_server::ConfiguredServer;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Folders of `${SPACE_DIR}`.
pub(super) const DATA: &str = "spaces";

/// Homes of confined servers.
pub(super) const HOMES: &str = "homes";

/// Returns the folder of one server in one space.
pub(super) fn space_folder(state: &Path, kind: &str, server: &ConfiguredServer, space: Option<&str>) -> PathBuf {
    let project = blake3::hash(server.folder.to_string_lossy().as_bytes()).to_hex();
    // `.global` cannot collide: a space's name cannot begin with a dot.
    state.join(kind).join(&project[..16]).join(space.unwrap_or(".global")).join(&server.name)
}

/// Removes the folders of all servers in one space, whose name no other project uses. Links are not followed, so that
/// nothing outside the state folder is removed. Blocks.
pub(super) fn remove_folders(state: &Path, space: &str) -> io::Result<()> {
    let mut names = Path::new(space).components();
    if !matches!((names.next(), names.next()), (Some(Component::Normal(_)), None)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of the space is not the name of a folder"));
    }
    for kind in [DATA, HOMES] {
        for project in folders_in(&state.join(kind))? {
            let folder = project.join(space);
            if is_folder(&folder) {
                fs::remove_dir_all(&folder)?;
            }
        }
    }
    Ok(())
}

fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !is_folder(folder) {
        return Ok(Vec::new());
    }
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    Ok(paths.into_iter().filter(|path| is_folder(path)).collect())
}

/// Returns true for a folder that is not a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

#[cfg(test)]
mod tests {
    use super::{DATA, HOMES, remove_folders};
    use std::fs;

    #[test]
    fn the_folders_of_one_space_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let path = |text: &str| state.path().join(text);
        remove_folders(state.path(), "spc_1").unwrap();
        for folder in
            ["spaces/p/spc_1/a", "homes/p/spc_1/a/tmp", "spaces/q/spc_1/b", "spaces/p/spc_2/a", "spaces/spc_1"]
        {
            fs::create_dir_all(path(folder)).unwrap();
            fs::write(path(folder).join("data"), "x").unwrap();
        }
        remove_folders(state.path(), "spc_1").unwrap();
        for gone in ["p/spc_1", "q/spc_1"] {
            assert!(!path(DATA).join(gone).exists() && !path(HOMES).join(gone).exists(), "{gone}");
        }
        assert!(path("spaces/p/spc_2/a/data").exists() && path("spaces/spc_1/data").exists());
        for wrong in ["", ".", "..", "../spaces", "p/spc_2", "/"] {
            assert!(remove_folders(state.path(), wrong).is_err(), "{wrong}");
        }
        assert!(path("spaces/p/spc_2/a/data").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (state, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(other.path().join("spc_1")).unwrap();
        fs::write(other.path().join("spc_1/data"), "x").unwrap();
        fs::create_dir_all(state.path().join("spaces/p/spc_1/a")).unwrap();
        fs::create_dir_all(state.path().join("homes/p")).unwrap();
        for link in ["spaces/q", "spaces/p/spc_1/a/inner", "homes/p/spc_1"] {
            std::os::unix::fs::symlink(other.path(), state.path().join(link)).unwrap();
        }
        remove_folders(state.path(), "spc_1").unwrap();
        assert!(other.path().join("spc_1/data").exists());
        assert!(!state.path().join("spaces/p/spc_1").exists());
    }
}
