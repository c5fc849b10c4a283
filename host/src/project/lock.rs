//! `capabilities.lock`: what was accepted of a project's MCP servers.

use super::error::ProjectError;
use super::find::join;
use super::text;
use agent_spaces_mcp::lock::{Lock, LockedServer, MAX_LOCK};
use std::path::{Path, PathBuf};

const NAME: &str = "capabilities.lock";

/// Where a project's lock is.
pub(super) fn file(folder: &Path) -> PathBuf {
    join(folder, NAME)
}

/// What the lock of a project says; nothing where there is none.
pub(super) fn read(folder: &Path) -> Result<Lock, ProjectError> {
    let file = file(folder);
    if !file.is_file() {
        return Ok(Lock::default());
    }
    let text = text::read(&file, MAX_LOCK)?;
    let shown = file.display().to_string();
    Lock::from_text(&shown, &text).map_err(|error| ProjectError::Lock(error.to_string()))
}

/// Writes down what was accepted of a server; others stay as they are. A reader never sees half a file.
pub(super) fn accept(folder: &Path, name: &str, server: LockedServer) -> Result<(), ProjectError> {
    let mut lock = read(folder)?;
    let server = match lock.servers.get(name) {
        Some(before) => server.accepted_over(before),
        None => server,
    };
    lock.servers.insert(name.to_owned(), server);
    write(folder, &lock)
}

/// Keeps only these servers; gives the names of the others.
pub(super) fn retain(folder: &Path, keep: impl Fn(&str) -> bool) -> Result<Vec<String>, ProjectError> {
    let mut lock = read(folder)?;
    let gone: Vec<String> = lock.servers.keys().filter(|name| !keep(name)).cloned().collect();
    if !gone.is_empty() {
        lock.servers.retain(|name, _| keep(name));
        write(folder, &lock)?;
    }
    Ok(gone)
}

fn write(folder: &Path, lock: &Lock) -> Result<(), ProjectError> {
    let text = lock.to_text().map_err(|error| ProjectError::Lock(error.to_string()))?;
    text::write(&file(folder), &text)
}
