//! npm packages imported by handlers: small ones, written for each rule.
//!
//! - `resolution`: resolution of imports, and its errors
//! - `formats`: ES modules, CommonJS and JSON, and imports between them
//! - `hostile`: hostile packages

mod formats;
mod hostile;
mod resolution;

use agent_spaces::script::ScriptError;
use agent_spaces::{Packages, RunOptions, Space, SpaceBuilder, Workspace};
use agent_spaces_tests::{builder, refusal};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A project with files, in a folder that has more than the project.
struct Project {
    outside: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let project = Project { outside: tempfile::tempdir().unwrap() };
        fs::create_dir(project.folder()).unwrap();
        fs::write(project.outside.path().join("secret.js"), "module.exports = 'TOP SECRET'").unwrap();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    fn folder(&self) -> PathBuf {
        self.outside.path().join("project")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A space whose programs are handlers in a folder of the project.
    fn space_in(&self, home: &str) -> Space {
        self.builder_in(home).build().unwrap()
    }

    fn builder_in(&self, home: &str) -> SpaceBuilder {
        let home = self.folder().join(home);
        fs::create_dir_all(&home).unwrap();
        let packages = Packages::open(&self.folder(), &home).unwrap();
        builder().workspace(Workspace::open(&home).unwrap()).packages(packages)
    }

    fn space(&self) -> Space {
        self.space_in("")
    }

    async fn value(&self, source: &str) -> Value {
        value_in(&self.space(), source).await
    }

    fn refusal(&self, source: &str) -> ScriptError {
        let error = refusal(&self.space(), "main.ts.call.js", source);
        assert!(!format!("{error:?}").contains("SECRET"), "{error:?}");
        error
    }

    #[cfg(unix)]
    fn link(&self, target: impl AsRef<Path>, name: &str) {
        let name = self.folder().join(name);
        fs::create_dir_all(name.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, name).unwrap();
    }
}

async fn value_in(space: &Space, source: &str) -> Value {
    let program = space.prepare("main.ts", source).unwrap_or_else(|error| panic!("{error} {error:?}: {source}"));
    let outcome = program.run(RunOptions::default()).await.outcome;
    outcome.unwrap_or_else(|error| panic!("{error:?}: {source}"))
}

/// The error that a program ends with.
async fn failure_in(space: &Space, source: &str) -> agent_spaces::RunError {
    let program = space.prepare("main.ts", source).unwrap_or_else(|error| panic!("{error} {error:?}: {source}"));
    match program.run(RunOptions::default()).await.outcome {
        Ok(value) => panic!("{source} gave {value}"),
        Err(error) => error,
    }
}
