//! Tests of file access and escapes from the workspace.

mod escapes;
mod functions;
mod glob;
#[cfg(unix)]
mod links;
mod policy;
mod protected;
mod quotas;
mod service;

use super::Files;
use crate::error::{Answer, StdError};
use agent_spaces_policy::FilePolicy;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const OPEN: FilePolicy = FilePolicy { read: true, write: true, max_file_bytes: 1_000_000, max_total_bytes: 10_000_000 };

/// Workspace with a sibling folder that nothing may reach.
struct Scene {
    files: Files,
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        Scene::with(OPEN)
    }

    fn with(policy: FilePolicy) -> Scene {
        let folder = TempDir::new().unwrap();
        for name in ["workspace", "outside"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("outside/secret.txt"), "secret").unwrap();
        Scene { files: Files::open(&folder.path().join("workspace"), policy, None).unwrap(), folder }
    }

    /// The same workspace as another process has it, sharing the count folder.
    fn another(&self, policy: FilePolicy) -> Files {
        Files::open(&self.inside(""), policy, Some(self.counts())).unwrap()
    }

    /// The count folder.
    fn counts(&self) -> PathBuf {
        self.folder.path().join("state/workspaces")
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.folder.path().join("workspace").join(path)
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join("outside").join(path)
    }

    /// Writes a file into the workspace, bypassing all rules.
    fn put(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.inside(path).parent().unwrap()).unwrap();
        std::fs::write(self.inside(path), text).unwrap();
    }

    fn call(&self, function: &str, params: Value) -> Answer {
        block_on(self.files.call(function, params))
    }

    /// Calls each function that takes a path, and returns their answers.
    fn call_all(&self, path: &str) -> Vec<(&'static str, Answer)> {
        let calls = [
            ("readFile", json!({ "path": path })),
            ("readBytes", json!({ "path": path })),
            ("list", json!({ "path": path })),
            ("stat", json!({ "path": path })),
            ("exists", json!({ "path": path })),
            ("writeFile", json!({ "path": path, "text": "x" })),
            ("writeBytes", json!({ "path": path, "bytes": "eA==" })),
            ("appendFile", json!({ "path": path, "text": "x" })),
            ("mkdir", json!({ "path": path })),
            ("delete", json!({ "path": path })),
            ("delete", json!({ "path": path, "options": { "recursive": true } })),
        ];
        calls.into_iter().map(|(function, params)| (function, self.call(function, params))).collect()
    }

    fn read(&self, path: &str) -> Result<String, StdError> {
        self.call("readFile", json!({ "path": path })).map(|text| text.as_str().unwrap().to_owned())
    }

    fn write(&self, path: &str, text: &str) -> Result<(), StdError> {
        self.call("writeFile", json!({ "path": path, "text": text })).map(|value| assert!(value.is_null()))
    }

    fn names(&self, path: &str) -> Vec<String> {
        let entries = self.call("list", json!({ "path": path })).unwrap();
        entries.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    }

    fn glob(&self, pattern: &str) -> Vec<String> {
        serde_json::from_value(self.call("glob", json!({ "pattern": pattern })).unwrap()).unwrap()
    }

    fn assert_outside_is_whole(&self) {
        assert_eq!(names_of(&self.outside("")), ["secret.txt"]);
        assert_eq!(std::fs::read_to_string(self.outside("secret.txt")).unwrap(), "secret");
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn names_of(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn reason(answer: Answer) -> (&'static str, String) {
    let error = answer.unwrap_err();
    let reason = error.details.as_ref().and_then(|details| details["reason"].as_str()).unwrap_or_default();
    (error.code.as_str(), reason.to_owned())
}
