//! npm packages that handlers import, resolved in the `node_modules` of their project and converted to modules for the
//! engine.
//!
//! Only handlers import packages; agents' scripts do not. Nothing of Node is emulated: a package that needs Node is
//! refused with the chain of imports that led to it.
//!
//! # Layout
//! - here: [`Packages`], the folder that packages are found in
//! - `files`: file system for the resolver, rooted at the project's folder
//! - `find`: module resolution; `name`: names of packages
//! - `refusal`: errors of imports
//! - `graph`: all package files that are reached, and the modules that they become; `chain`: import chains for errors
//! - `facade`: modules between ES modules and CommonJS; `commonjs.js`: runtime of CommonJS files
//! - `definition`: packages that define capabilities

mod chain;
mod definition;
mod facade;
mod files;
mod find;
mod graph;
mod name;
mod refusal;

pub use definition::definitions_of;
pub use graph::PackageGraph;
pub use name::{package_of, root_of};

use agent_spaces_protected_paths::{Access, closed_folder};
use files::ProjectFiles;
use find::Resolvers;
use oxc_resolver::FileSystem as _;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the folder that holds packages.
pub const FOLDER: &str = "node_modules";

/// Default folder of a project's definitions.
const DEFINITIONS: &str = "capabilities";

/// Returns the project folder of the files in `home` if no configuration names one: the parent of `home` if `home` has
/// the default name of a definitions folder, otherwise `home` itself. A folder that is closed to scripts, such as the
/// user's home folder, is never a project.
pub fn project_of(home: &Path) -> PathBuf {
    let holding = || {
        let real = home.canonicalize().ok()?;
        let is_usual = real.file_name().is_some_and(|name| name == DEFINITIONS);
        let above = real.parent().filter(|_| is_usual)?;
        closed_folder::check(above, Access::Read, &[]).ok()?;
        // Keep the path as the user wrote it, if it has a parent.
        match home.parent() {
            Some(named) if named.as_os_str().is_empty() && home.ends_with(DEFINITIONS) => Some(PathBuf::from(".")),
            Some(named) if home.ends_with(DEFINITIONS) => Some(named.to_owned()),
            _ => Some(above.to_owned()),
        }
    };
    holding().unwrap_or_else(|| home.to_owned())
}

/// Packages of a project that the handlers of one folder can import.
pub struct Packages {
    /// The project's folder, as it was named.
    folder: PathBuf,
    files: ProjectFiles,
    resolvers: Resolvers,
    /// The handlers' folder, from the project's: `/capabilities`, or nothing for the project's own.
    home: String,
    /// Folder of the package that the handlers belong to, if they belong to one.
    home_package: Option<String>,
}

impl Packages {
    /// Opens the packages that files of the folder `home` can import: those in a `node_modules` there or above it, up
    /// to the project's folder. A folder that is not inside the project is a project of its own.
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
        // By its name rather than its real path: a link in `node_modules` is a package too.
        let named = named.strip_prefix(&project).map(virtual_path).unwrap_or_default();
        let root = name::root_of(&format!("{named}/")).map(|root| files.canonicalize(Path::new(root))).transpose()?;
        let home_package = root.map(|root| virtual_path(root.strip_prefix("/").unwrap_or(&root)));
        let resolvers = Resolvers::new(&files);
        Ok(Packages { folder, files, resolvers, home: virtual_path(inside), home_package })
    }

    /// Hint for a package that was not found: install it, or if it is installed above the project, move the project up.
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
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// True if this module is a package's file rather than one of the handlers' own folder.
    pub fn owns(&self, file: &str) -> bool {
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
    use crate::npm::project_of;
    use std::path::Path;

    #[test]
    fn the_parent_of_a_capabilities_folder_is_the_project() {
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
