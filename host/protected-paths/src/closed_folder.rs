//! Closed folders: those that scripts can never import from or use as a workspace, whoever configures them. They are
//! home and root folders, and folders in which programs keep configuration, state or credentials. Names that are
//! protected inside other folders are in `names`.

use crate::clients::{Client, Platform, well_known};
use crate::{Access, closing_name};
use std::path::{Path, PathBuf};

/// Reason why a folder is closed to scripts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClosedFolder {
    /// The user's home folder.
    #[error("it is the home folder, where programs keep configuration and credentials")]
    Home,
    /// A folder above the home folder.
    #[error("the home folder lies in it")]
    AboveHome,
    /// A root folder.
    #[error("it is a root folder")]
    Root,
    /// Its name or that of a parent is protected.
    #[error("`{0}` is closed to scripts")]
    Named(String),
    /// It contains another program's MCP settings file, or is in the folder of such a file.
    #[error("another program keeps its configuration there")]
    Program,
    /// It overlaps a folder of Agent Spaces.
    #[error("Agent Spaces keeps files of its own there")]
    Own,
}

/// Refuses a canonical path that is closed to this user's scripts. `own` are folders that it must not overlap.
pub fn check(folder: &Path, access: Access, own: &[PathBuf]) -> Result<(), ClosedFolder> {
    check_for(std::env::home_dir().as_deref(), folder, access, own)
}

fn check_for(home: Option<&Path>, folder: &Path, access: Access, own: &[PathBuf]) -> Result<(), ClosedFolder> {
    if folder.parent().is_none() {
        return Err(ClosedFolder::Root);
    }
    // An empty `HOME` counts as unset.
    if let Some(home) = home.filter(|home| home.is_absolute()) {
        let real_home = real(home);
        if is_same(folder, &real_home) {
            return Err(ClosedFolder::Home);
        }
        if real_home.ancestors().any(|above| is_same(folder, above)) {
            return Err(ClosedFolder::AboveHome);
        }
        if is_of_program(folder, home) {
            return Err(ClosedFolder::Program);
        }
    }
    if let Some(name) = closing_name(folder, access) {
        return Err(ClosedFolder::Named(name));
    }
    match own.iter().any(|own| overlaps(folder, &real(own))) {
        true => Err(ClosedFolder::Own),
        false => Ok(()),
    }
}

/// Returns true if one of two canonical folders contains the other.
fn overlaps(folder: &Path, other: &Path) -> bool {
    other.starts_with(folder) || folder.starts_with(other)
}

/// Returns true if a folder contains a known program's MCP settings file, or is in the folder of one.
fn is_of_program(folder: &Path, home: &Path) -> bool {
    let platform = Platform::of(std::env::consts::OS);
    let mut files = Client::NAMES.iter().flat_map(|(_, client)| well_known(*client, home, platform));
    files.any(|file| {
        // A file directly in the home folder does not close all of its subfolders.
        let own = file.parent().filter(|parent| *parent != home).map(real);
        real(&file).starts_with(folder) || own.is_some_and(|own| folder.starts_with(own))
    })
}

/// Returns true if two paths are the same folder, even in another case or by another mount.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        if let (Some(one), Some(other)) = (identity(one), identity(other)) {
            return one == other;
        }
    }
    one == other
}

/// Canonicalizes a path, whose last components need not exist.
pub fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(above).ok()?))
    });
    found.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::clients::{Client, PROJECT_FILES, Platform, well_known};
    use crate::closed_folder::{ClosedFolder, check_for};
    use crate::{Access, is_protected};
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn the_home_folder_and_its_parents_are_closed_and_its_subfolders_are_not() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let home = outer.join("users/me");
        fs::create_dir_all(home.join("projects/one")).unwrap();
        fs::create_dir_all(outer.join("users/other")).unwrap();
        std::os::unix::fs::symlink(&home, outer.join("link")).unwrap();
        let check = |home: &Path, folder: &Path| check_for(Some(home), folder, Access::Read, &[]);
        assert_eq!(check(&home, &home), Err(ClosedFolder::Home));
        // A home given as a symlink is the same.
        assert_eq!(check(&outer.join("link"), &home), Err(ClosedFolder::Home));
        assert_eq!(check(&home, &outer.join("users")), Err(ClosedFolder::AboveHome));
        assert_eq!(check(&home, &outer), Err(ClosedFolder::AboveHome));
        assert_eq!(check(&home, Path::new("/")), Err(ClosedFolder::Root));
        assert_eq!(check_for(None, Path::new("/"), Access::Read, &[]), Err(ClosedFolder::Root));
        for folder in [home.join("projects"), home.join("projects/one"), outer.join("users/other")] {
            assert_eq!(check(&home, &folder), Ok(()), "{}", folder.display());
        }
        assert_eq!(check_for(None, &home, Access::Read, &[]), Ok(()));
    }

    #[test]
    fn own_folders_must_not_overlap() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let own = [outer.join("state/agent-spaces")];
        for (folder, expected) in [
            ("state", Err(ClosedFolder::Own)),
            ("state/agent-spaces", Err(ClosedFolder::Own)),
            ("state/agent-spaces/deep", Err(ClosedFolder::Own)),
            ("state/other", Ok(())),
        ] {
            assert_eq!(check_for(None, &outer.join(folder), Access::Read, &own), expected, "{folder}");
        }
    }

    /// Fails if a program is added to the list whose files are not protected.
    #[test]
    fn settings_files_of_all_known_programs_are_closed() {
        let home = Path::new("/home/of/me");
        let platforms = [Platform::Linux, Platform::MacOs, Platform::Windows];
        let user = platforms
            .iter()
            .flat_map(|platform| Client::NAMES.iter().flat_map(|(_, client)| well_known(*client, home, *platform)));
        let inside: Vec<PathBuf> = user.map(|file| file.strip_prefix(home).unwrap().to_owned()).collect();
        assert!(inside.len() > 10);
        for file in inside.iter().map(PathBuf::as_path).chain(PROJECT_FILES.map(Path::new)) {
            let is_closed = file.iter().any(|name| is_protected(&name.to_string_lossy(), Access::Read));
            assert!(is_closed, "{}", file.display());
        }
        // So is the folder of such a file, and its subfolders.
        for (name, client) in Client::NAMES {
            for file in well_known(client, home, Platform::of(std::env::consts::OS)) {
                let folder = file.parent().unwrap();
                let closed = check_for(Some(home), folder, Access::Read, &[]);
                assert!(closed.is_err(), "{name}: {}", folder.display());
                let below = check_for(Some(home), &folder.join("below"), Access::Read, &[]);
                assert_eq!(below.is_err(), folder != home, "{name}: {}", folder.display());
            }
        }
        for file in PROJECT_FILES.iter().filter_map(|file| file.split_once('/')) {
            let folder = Path::new("/project").join(file.0);
            assert!(
                matches!(check_for(Some(home), &folder, Access::Read, &[]), Err(ClosedFolder::Named(_))),
                "{file:?}"
            );
        }
    }
}
