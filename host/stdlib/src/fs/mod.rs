//! File access within a workspace.
//!
//! # Layout
//! - `path`: syntax of paths; [`crate::protected`] lists protected names
//! - `path_resolution`: from a path to an open folder and a name in it, component by component, symlinks included
//! - `service`: the same files for callers other than scripts, with ETags and preconditions
//! - `read`, `write`, `list`, `mkdir`, `delete`, `glob`: the functions
//! - `usage`: workspace quota; `ledger`: its count, shared by all processes
//! - `walk`: bounded recursive walk of a folder
//! - `failure`: errors worded for scripts

mod delete;
mod failure;
mod glob;
mod ledger;
mod list;
mod mkdir;
mod path;
mod path_resolution;
mod pattern;
mod read;
mod service;
mod temporary;
#[cfg(test)]
mod tests;
mod usage;
mod walk;
mod write;

pub use service::{FileContents, FileEntry, FileError, Precondition, Written, etag_of};

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

/// File access to one workspace, within a policy. Clones share their usage count; so do all values with the same count
/// folder, in this process and others.
#[derive(Clone, Debug)]
pub struct Files(Arc<Workspace>);

/// Opened folder. Nothing outside it can be reached through it.
#[derive(Debug)]
struct Workspace {
    root: Dir,
    policy: FilePolicy,
    usage: Usage,
}

impl Files {
    /// Opens a workspace folder. Its usage is counted in a file of the folder `counts`, which is created at the first
    /// write and must not lie in a workspace; without one, only this value and its clones share a count.
    pub fn open(folder: &Path, policy: FilePolicy, counts: Option<PathBuf>) -> io::Result<Files> {
        let root = Dir::open_ambient_dir(folder, ambient_authority())?;
        let usage = Usage::new(&root, counts)?;
        Ok(Files(Arc::new(Workspace { root, policy, usage })))
    }

    /// Calls a function by its name in scripts, such as `readFile`. A started call completes even if its future is
    /// dropped, so that no file is left half written.
    pub async fn call(&self, function: &str, params: Value) -> Answer {
        let (workspace, function) = (self.0.clone(), function.to_owned());
        let answer = tokio::task::spawn_blocking(move || workspace.answer(&function, params));
        answer.await.unwrap_or_else(|_| Err(StdError::failed("The file system gave no answer")))
    }
}

impl Workspace {
    /// Refuses to read if the policy does.
    fn may_read(&self) -> Result<(), StdError> {
        if self.policy.read { Ok(()) } else { Err(StdError::denied("Reading files is not allowed in this space")) }
    }

    /// Refuses to write if the policy does.
    fn may_write(&self) -> Result<(), StdError> {
        if self.policy.write { Ok(()) } else { Err(StdError::denied("Writing files is not allowed in this space")) }
    }

    fn answer(&self, function: &str, params: Value) -> Answer {
        match function {
            "readFile" | "readBytes" | "list" | "stat" | "exists" | "glob" => {
                self.may_read()?;
                self.answer_reading(function, params)
            }
            "writeFile" | "writeBytes" | "appendFile" | "delete" | "mkdir" => {
                self.may_write()?;
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
