//! `capabilities.lock`: the accepted tools of a project's MCP servers.

use super::error::ProjectError;
use super::find::join;
use super::text;
use agent_spaces_mcp::lock::{Lock, LockedServer, MAX_LOCK};
use agent_spaces_private_fs::{folder, lock};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

const NAME: &str = "capabilities.lock";

/// Longest wait for another process that changes it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Path of a project's lock.
pub(super) fn file(folder: &Path) -> PathBuf {
    join(folder, NAME)
}

/// Reads the lock of a project; an empty one if there is no file.
pub(super) fn read(folder: &Path) -> Result<Lock, ProjectError> {
    let file = file(folder);
    if !file.is_file() {
        return Ok(Lock::default());
    }
    let text = text::read(&file, MAX_LOCK)?;
    let shown = file.display().to_string();
    Lock::from_text(&shown, &text).map_err(|error| ProjectError::Lock(error.to_string()))
}

/// Writes the accepted tools of one server to the lock. The file is replaced atomically.
pub(super) fn accept(folder: &Path, guard: &Path, name: &str, server: LockedServer) -> Result<(), ProjectError> {
    let _held = hold_guard(guard)?;
    let mut lock = read(folder)?;
    let server = match lock.servers.get(name) {
        Some(before) => server.accepted_over(before),
        None => server,
    };
    lock.servers.insert(name.to_owned(), server);
    write(folder, &lock)
}

/// Adds a server to the lock unless another process already did. Returns the entry that is in the lock now.
pub(super) fn accept_first(
    folder: &Path,
    guard: &Path,
    name: &str,
    server: LockedServer,
) -> Result<LockedServer, ProjectError> {
    let _held = hold_guard(guard)?;
    let mut lock = read(folder)?;
    if let Some(before) = lock.servers.remove(name) {
        return Ok(before);
    }
    lock.servers.insert(name.to_owned(), server.clone());
    write(folder, &lock)?;
    Ok(server)
}

/// Keeps only these servers in the lock. Returns the names of the removed ones.
pub(super) fn retain(folder: &Path, guard: &Path, keep: impl Fn(&str) -> bool) -> Result<Vec<String>, ProjectError> {
    let _held = hold_guard(guard)?;
    let mut lock = read(folder)?;
    let gone: Vec<String> = lock.servers.keys().filter(|name| !keep(name)).cloned().collect();
    if !gone.is_empty() {
        lock.servers.retain(|name, _| keep(name));
        write(folder, &lock)?;
    }
    Ok(gone)
}

/// Path of the file that is locked while `capabilities.lock` is changed. It is in the state folder, to keep the project
/// clean, or beside the lock if there is no state folder.
pub(super) fn guard_file(folder: &Path, state: Option<&Path>) -> PathBuf {
    let Some(state) = state else { return join(folder, ".capabilities.lock.guard") };
    // The same project has the same guard, whatever path leads to it.
    let own = std::fs::canonicalize(join(folder, ".")).unwrap_or_else(|_| folder.to_owned());
    let name = blake3::hash(own.as_os_str().as_encoded_bytes()).to_hex();
    state.join("projects").join(format!("{name}.lock"))
}

/// Locks `capabilities.lock` against changes by other threads and processes until the returned file is dropped.
fn hold_guard(guard: &Path) -> Result<File, ProjectError> {
    let hold = || {
        if let Some(folder) = guard.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            folder::make(folder)?;
        }
        let busy = "capabilities.lock is locked by another process; try again later";
        lock::hold(guard, LOCK_TIMEOUT)?.ok_or_else(|| std::io::Error::other(busy))
    };
    hold().map_err(|error| ProjectError::file(guard, error))
}

fn write(folder: &Path, lock: &Lock) -> Result<(), ProjectError> {
    let text = lock.to_text().map_err(|error| ProjectError::Lock(error.to_string()))?;
    text::write(&file(folder), &text)
}

#[cfg(test)]
mod tests {
    use crate::lock::*;
    use agent_spaces_mcp::lock::{LockedEndpoint, Offer};
    use agent_spaces_secrets::Redactor;

    fn server(address: &str) -> LockedServer {
        LockedServer::of(LockedEndpoint::remote(address), &Offer::default(), &Redactor::default()).unwrap()
    }

    #[test]
    fn concurrent_first_acceptances_agree_and_lose_no_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let guard = &guard_file(path, Some(&path.join("state")));
        let counted: Vec<LockedServer> = std::thread::scope(|scope| {
            let accepting: Vec<_> = (0..12)
                .map(|number| {
                    scope.spawn(move || {
                        accept(path, guard, &format!("own{number}"), server("own:1")).unwrap();
                        accept_first(path, guard, "shared", server(&format!("shared:{number}"))).unwrap()
                    })
                })
                .collect();
            accepting.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let lock = read(path).unwrap();
        assert_eq!(lock.servers.len(), 13, "{:?}", lock.servers.keys());
        assert!(counted.iter().all(|it| *it == lock.servers["shared"]), "all go by what is written");
    }

    #[test]
    fn the_guard_of_a_project_is_independent_of_its_path_and_outside_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (project, state) = (folder.path().join("project"), folder.path().join("state"));
        std::fs::create_dir(&project).unwrap();
        let of = |named: &str| guard_file(&folder.path().join(named), Some(&state));
        assert_eq!(of("project"), of("project/../project/."));
        assert_ne!(of("project"), of("."));
        accept(&project, &of("project"), "it", server("own:1")).unwrap();
        let names = |folder: &Path| -> Vec<_> {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        assert_eq!(names(&project), ["capabilities.lock"]);
        assert_eq!(names(&state), ["projects"]);
    }
}
