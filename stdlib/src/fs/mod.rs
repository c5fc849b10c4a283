//! Files of a workspace.
//!
//! # Layout
//! - `path`: which paths a script may write down at all; [`crate::protected`] says which names are closed
//! - `place`: from a path to an open folder and a name in it, one part at a time, links included
//! - `read`, `write`, `list`, `mkdir`, `delete`, `glob`: what the functions do there
//! - `usage`: how much the workspace may hold; `ledger`: that count, for all processes
//! - `walk`: all that is below a folder, within bounds
//! - `failure`: what a script is told

mod delete;
mod failure;
mod glob;
mod ledger;
mod list;
mod mkdir;
mod path;
mod pattern;
mod place;
mod read;
mod temporary;
#[cfg(test)]
mod tests;
mod usage;
mod walk;
mod write;

use crate::error::{Answer, StdError};
use crate::params::{bytes_value, read as read_params};
use agent_spaces_policy::FilePolicy;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use usage::Usage;

/// The files of one workspace, within a policy. Copies share their count of what the workspace holds; so do all that were
/// given the same folder of counts, in this process and in others.
#[derive(Clone, Debug)]
pub struct Files(Arc<Workspace>);

/// The opened folder. Nothing outside it can be reached through it.
#[derive(Debug)]
struct Workspace {
    root: Dir,
    policy: FilePolicy,
    usage: Usage,
}

impl Files {
    /// Opens the folder that is the workspace. What it holds is counted in a file of the folder `counts`, which is made
    /// when something is first written and must not lie in a workspace; without one, it is counted for this value and
    /// its copies alone.
    pub fn open(folder: &Path, policy: FilePolicy, counts: Option<PathBuf>) -> io::Result<Files> {
        let root = Dir::open_ambient_dir(folder, ambient_authority())?;
        let usage = Usage::new(&root, counts)?;
        Ok(Files(Arc::new(Workspace { root, policy, usage })))
    }

    /// Calls a function by the name that scripts use, such as `readFile`. What has begun is brought to its end even if
    /// nobody waits for it any more, so that no file is left half written.
    pub async fn call(&self, function: &str, params: Value) -> Answer {
        let (workspace, function) = (self.0.clone(), function.to_owned());
        let answer = tokio::task::spawn_blocking(move || workspace.answer(&function, params));
        answer.await.unwrap_or_else(|_| Err(StdError::failed("The file system gave no answer")))
    }
}

impl Workspace {
    fn answer(&self, function: &str, params: Value) -> Answer {
        match function {
            "readFile" | "readBytes" | "list" | "stat" | "exists" | "glob" => {
                if !self.policy.read {
                    return Err(StdError::denied("Reading files is not allowed in this space"));
                }
                self.answer_reading(function, params)
            }
            "writeFile" | "writeBytes" | "appendFile" | "delete" | "mkdir" => {
                if !self.policy.write {
                    return Err(StdError::denied("Writing files is not allowed in this space"));
                }
                self.answer_writing(function, params).map(|()| Value::Null)
            }
            _ => Err(StdError::unknown_function("fs", function)),
        }
    }

    fn answer_reading(&self, function: &str, params: Value) -> Answer {
        match function {
            "list" => self.list(read_params(params, |params| params.optional_text("path"))?.as_deref()),
            "glob" => self.glob(&read_params(params, |params| params.text("pattern"))?),
            _ => {
                let path = read_params(params, |params| params.text("path"))?;
                match function {
                    "readFile" => self.read_text(&path).map(Value::String),
                    "readBytes" => self.read_bytes(&path).map(|bytes| bytes_value(&bytes)),
                    "stat" => self.stat(&path),
                    _ => self.exists(&path).map(Value::Bool),
                }
            }
        }
    }

    fn answer_writing(&self, function: &str, params: Value) -> Result<(), StdError> {
        match function {
            "mkdir" => self.mkdir(&read_params(params, |params| params.text("path"))?),
            "delete" => {
                let (path, is_recursive) = read_params(params, |params| {
                    let path = params.text("path")?;
                    Ok((path, params.record("options", |options| options.optional_bool("recursive"))?))
                })?;
                self.delete(&path, is_recursive.unwrap_or(false))
            }
            "writeBytes" => {
                let (path, bytes) = read_params(params, |params| Ok((params.text("path")?, params.bytes("bytes")?)))?;
                self.write(&path, &bytes)
            }
            _ => {
                let (path, text) = read_params(params, |params| Ok((params.text("path")?, params.text("text")?)))?;
                match function {
                    "writeFile" => self.write(&path, text.as_bytes()),
                    _ => self.append(&path, text.as_bytes()),
                }
            }
        }
    }
}
