//! A project: its configuration, the capabilities that it defines, and the spaces that it gives them to.
//!
//! - `find`: where the configuration is.
//! - `text`: files as text, of a bounded size.
//! - `evaluate`: a configuration in TypeScript, run in a sandbox that reaches nothing.
//! - `definitions`: files that define capabilities, and what they become.
//! - `outlines`: names of modules, kept so that an unchanged file need not be compiled to know them.
//! - `spaces`: which modules a space is given.
//! - `build`: the bundles for editors and auditors.

mod build;
mod definitions;
mod error;
mod evaluate;
mod find;
mod outlines;
mod spaces;
mod text;

pub use build::{BuildReport, BuiltModule, Output, Scope, build, output};
pub use definitions::{DefinedModule, DefinitionBody, DefinitionFile, definitions_at};
pub use error::ProjectError;
pub use find::find;
pub use outlines::Outlines;
pub use spaces::SpaceModules;

use crate::config::Config;
use crate::engine::Engine;
use definitions::Loader;
use std::path::{Path, PathBuf};

/// A project's configuration and all definitions that it names.
pub struct Project {
    /// The folder that the configuration is in; paths are relative to it.
    folder: PathBuf,
    config: Config,
    /// Every definition that some entry names, once.
    definitions: Vec<DefinitionFile>,
}

impl Project {
    /// Reads a configuration and the definitions that it names. The engine evaluates TypeScript.
    pub fn open(file: &Path, engine: &Engine, outlines: &Outlines) -> Result<Project, ProjectError> {
        let config = evaluate::read(file, engine)?;
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut loader = Loader::new(folder, &config, outlines);
        loader.load_all()?;
        let definitions = loader.finish();
        definitions::check_names(&definitions)?;
        Ok(Project { folder: folder.to_owned(), config, definitions })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder that paths are relative to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every definition, in the order in which the configuration first names it.
    pub fn definitions(&self) -> &[DefinitionFile] {
        &self.definitions
    }
}
