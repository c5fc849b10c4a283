//! npm packages that handlers import, found in the `node_modules` of their project and made into modules for the engine.
//!
//! Only what makes handlers ready comes here; agents' scripts import no packages. Nothing of Node is emulated: a package
//! that needs Node is refused with the chain of imports that led to it.
//!
//! # Layout
//! - here: [`Packages`], the folder that packages are found in
//! - `files`: that folder, for the resolver; paths in it begin with `/`, and nothing is above that
//! - `find`: from what a file imports to the file that it means; `name`: what is a package's name
//! - `refusal`: why it is not given
//! - `graph`: all files of packages that are reached, and the modules that they become; `chain`: who imported whom
//! - `facade`: the modules between ES modules and CommonJS; `commonjs.js`: what CommonJS files run on
//! - `definition`: packages that define capabilities

mod chain;
mod definition;
mod facade;
mod files;
mod find;
mod graph;
mod name;
mod refusal;

pub(crate) use definition::definitions_of;
pub(crate) use graph::PackageGraph;
pub(crate) use name::{package_of, root_of};

use crate::closed_folder;
use agent_spaces_std::protected::Access;
use files::ProjectFiles;
use find::Resolvers;
use oxc_resolver::FileSystem as _;
use std::io;
use std::path::{Path, PathBuf};

/// What a folder of packages is called.
pub(crate) const FOLDER: &str = "node_modules";

/// The folder of definitions that a project has without a configuration that says otherwise.
const DEFINITIONS: &str = "capabilities";

/// The folder in which files of `home` find packages where no configuration says which project they are of: the one that
/// holds `home`, where that is a folder of definitions by its name, or else `home` itself. A folder that is closed to
/// scripts, such as the user's home folder, is nobody's project.
pub(crate) fn project_of(home: &Path) -> PathBuf {
    let holding = || {
        let real = home.canonicalize().ok()?;
        let is_usual = real.file_name().is_some_and(|name| name == DEFINITIONS);
        let above = real.parent().filter(|_| is_usual)?;
        closed_folder::check(above, Access::Read, &[]).ok()?;
        // As it was named, where it was named by more than its own name.
        match home.parent() {
            Some(named) if named.as_os_str().is_empty() && home.ends_with(DEFINITIONS) => Some(PathBuf::from(".")),
            Some(named) if home.ends_with(DEFINITIONS) => Some(named.to_owned()),
            _ => Some(above.to_owned()),
        }
    };
    holding().unwrap_or_else(|| home.to_owned())
}

/// The packages of a project, as the handlers of one folder see them.
pub struct Packages {
    /// The project's folder, as it was named.
    folder: PathBuf,
    files: ProjectFiles,
    resolvers: Resolvers,
    /// The handlers' folder, from the project's: `/capabilities`, or nothing for the project's own.
    home: String,
    /// The folder of the package that the handlers are of, where they are a package's.
    home_package: Option<String>,
}

impl Packages {
    /// The packages that files of the folder `home` can import: those in a `node_modules` there or above it, up to the
    /// project's folder. A folder that is not inside the project is a project of its own.
    pub fn open(project: &Path, home: &Path) -> io::Result<Packages> {
        let folder = project.to_owned();
        let (project, named) = (std::path::absolute(project)?, std::path::absolute(home)?);
        let (real_project, real_home) = (project.canonicalize()?, named.canonicalize()?);
        let Ok(inside) = real_home.strip_prefix(&real_project) else {
            let files = ProjectFiles::open(&real_home)?;
            let resolvers = Resolvers::new(&files);
            return Ok(Packages { folder: home.to_owned(), files, resolvers, home: String::new(), home_package: None });
        };
        let files = ProjectFiles::open(&real_project)?;
        // By the name that it goes by: a link in `node_modules` is a package too.
        let named = named.strip_prefix(&project).map(virtual_path).unwrap_or_default();
        let root = name::root_of(&format!("{named}/")).map(|root| files.canonicalize(Path::new(root))).transpose()?;
        let home_package = root.map(|root| virtual_path(root.strip_prefix("/").unwrap_or(&root)));
        let resolvers = Resolvers::new(&files);
        Ok(Packages { folder, files, resolvers, home: virtual_path(inside), home_package })
    }

    /// What to do so that a package is found: install it, or where it lies in a folder above, let that be the project's.
    fn install(&self, name: &str) -> String {
        let folder = self.folder.display();
        let is_there = |above: &&Path| above.join(FOLDER).join(name).is_dir();
        let levels = self
            .folder
            .canonicalize()
            .ok()
            .and_then(|folder| folder.ancestors().skip(1).position(|above| is_there(&above)));
        match (levels, self.folder.to_str()) {
            (Some(levels), _) => format!(
                "it is installed in {folder}{}, above the project's folder: put an agent-spaces.config.json there that names the \
                 definition, or run `npm install {name}` in {folder}",
                "/..".repeat(levels + 1)
            ),
            (None, Some("." | "") | None) => format!("run `npm install {name}` in the project's folder"),
            (None, Some(_)) => format!("run `npm install {name}` in the project's folder, {folder}"),
        }
    }

    /// The project's folder; the paths of packages' modules are from there.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether this module is a package's file rather than one of the handlers' own folder.
    pub(crate) fn owns(&self, file: &str) -> bool {
        file.starts_with('/') || self.home_package.is_some()
    }

    /// A module's path from the project's folder.
    fn path_of(&self, file: &str) -> String {
        if file.starts_with('/') { file.to_owned() } else { format!("{}/{file}", self.home) }
    }
}

/// A relative path as one from the project's folder; empty for that folder.
fn virtual_path(path: &Path) -> String {
    path.components().fold(String::new(), |path, part| format!("{path}/{}", part.as_os_str().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::project_of;
    use std::path::Path;

    #[test]
    fn the_folder_that_holds_capabilities_is_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let made = |path: &str| {
            let made = folder.path().join(path);
            std::fs::create_dir_all(&made).unwrap();
            made
        };
        assert_eq!(project_of(&made("a/capabilities")), folder.path().join("a"));
        for own in ["a/tools", "a/capabilities/inner", ".ssh/capabilities"] {
            assert_eq!(project_of(&made(own)), folder.path().join(own), "{own}");
        }
        assert_eq!(
            project_of(Path::new("/capabilities-that-are-not-there")),
            Path::new("/capabilities-that-are-not-there")
        );
    }
}
