//! Folders that scripts never import from or work in, whoever names them: home and root folders, and those in which programs
//! keep configuration, state or credentials. Which names are closed inside of all others is [`agent_spaces_std::protected`].

use crate::config::foreign::{Client, Platform, well_known};
use agent_spaces_std::protected::{Access, closing_name};
use std::path::{Path, PathBuf};

/// Why a folder is closed to scripts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClosedFolder {
    /// The user's home folder.
    #[error("it is the home folder, where programs keep configuration and credentials")]
    Home,
    /// A folder above the home folder.
    #[error("the home folder lies in it")]
    AboveHome,
    /// Nothing is above it.
    #[error("it is a root folder")]
    Root,
    /// Its name, or one above it, says so.
    #[error("`{0}` is a folder that scripts have no part in")]
    Named(String),
    /// Another program's file of MCP servers is in it, or it is in the folder of such a file.
    #[error("another program keeps its configuration there")]
    Program,
    /// It overlaps a folder of ours.
    #[error("Agent Spaces keeps files of its own there")]
    Own,
}

/// Refuses a real path that is closed to this user's scripts. `own` are folders that it may not overlap.
pub(crate) fn check(folder: &Path, access: Access, own: &[PathBuf]) -> Result<(), ClosedFolder> {
    check_for(std::env::home_dir().as_deref(), folder, access, own)
}

fn check_for(home: Option<&Path>, folder: &Path, access: Access, own: &[PathBuf]) -> Result<(), ClosedFolder> {
    if folder.parent().is_none() {
        return Err(ClosedFolder::Root);
    }
    // An empty name of a home is none.
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

/// Whether one of two real folders lies in the other.
fn overlaps(folder: &Path, other: &Path) -> bool {
    other.starts_with(folder) || folder.starts_with(other)
}

/// Whether a folder has to do with a file in which a program that is known keeps its servers.
fn is_of_program(folder: &Path, home: &Path) -> bool {
    let platform = Platform::of(std::env::consts::OS);
    let mut files = Client::NAMES.iter().flat_map(|(_, client)| well_known(*client, home, platform));
    files.any(|file| {
        // A file that lies in the home folder itself closes no more than that.
        let own = file.parent().filter(|parent| *parent != home).map(real);
        real(&file).starts_with(folder) || own.is_some_and(|own| folder.starts_with(own))
    })
}

/// Whether two paths lead to one folder: by another case, or by another mount, too.
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

/// Where a path leads, links and all. What is not there yet may be made there: then where it would be.
pub(crate) fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(above).ok()?))
    });
    found.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{ClosedFolder, check_for};
    use crate::config::foreign::{Client, PROJECT_FILES, Platform, well_known};
    use agent_spaces_std::protected::{Access, is_protected};
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn a_home_folder_and_all_above_it_are_closed_and_folders_inside_it_are_not() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let home = outer.join("users/me");
        fs::create_dir_all(home.join("projects/one")).unwrap();
        fs::create_dir_all(outer.join("users/other")).unwrap();
        std::os::unix::fs::symlink(&home, outer.join("link")).unwrap();
        let check = |home: &Path, folder: &Path| check_for(Some(home), folder, Access::Read, &[]);
        assert_eq!(check(&home, &home), Err(ClosedFolder::Home));
        // A home that is named by a link is the same.
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
    fn folders_of_ours_are_closed_both_ways() {
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

    /// A program that is added to the list is closed to scripts without another word, or this fails.
    #[test]
    fn the_files_of_every_program_that_is_known_are_closed() {
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
        // Nor is the folder of one a folder for scripts, or a folder inside of that.
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
