//! `capabilities.lock`: what was accepted of a project's MCP servers.

use super::error::ProjectError;
use super::find::join;
use super::text;
use crate::{file_lock, private_folder};
use agent_spaces_mcp::lock::{Lock, LockedServer, MAX_LOCK};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

const NAME: &str = "capabilities.lock";

/// How long others may take to change it.
const PATIENCE: Duration = Duration::from_secs(10);

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
pub(super) fn accept(folder: &Path, guard: &Path, name: &str, server: LockedServer) -> Result<(), ProjectError> {
    let _alone = alone(guard)?;
    let mut lock = read(folder)?;
    let server = match lock.servers.get(name) {
        Some(before) => server.accepted_over(before),
        None => server,
    };
    lock.servers.insert(name.to_owned(), server);
    write(folder, &lock)
}

/// Writes down what is accepted of a server the first time, unless somebody did meanwhile; gives what counts.
pub(super) fn accept_first(
    folder: &Path,
    guard: &Path,
    name: &str,
    server: LockedServer,
) -> Result<LockedServer, ProjectError> {
    let _alone = alone(guard)?;
    let mut lock = read(folder)?;
    if let Some(before) = lock.servers.remove(name) {
        return Ok(before);
    }
    lock.servers.insert(name.to_owned(), server.clone());
    write(folder, &lock)?;
    Ok(server)
}

/// Keeps only these servers; gives the names of the others.
pub(super) fn retain(folder: &Path, guard: &Path, keep: impl Fn(&str) -> bool) -> Result<Vec<String>, ProjectError> {
    let _alone = alone(guard)?;
    let mut lock = read(folder)?;
    let gone: Vec<String> = lock.servers.keys().filter(|name| !keep(name)).cloned().collect();
    if !gone.is_empty() {
        lock.servers.retain(|name, _| keep(name));
        write(folder, &lock)?;
    }
    Ok(gone)
}

/// The file that is held while the lock of a project is changed: in the state folder, so that a project has no file of no
/// use to its people; beside the lock where there is none.
pub(super) fn guard(folder: &Path, state: Option<&Path>) -> PathBuf {
    let Some(state) = state else { return join(folder, ".capabilities.lock.guard") };
    // However the project is named.
    let own = std::fs::canonicalize(join(folder, ".")).unwrap_or_else(|_| folder.to_owned());
    let name = blake3::hash(own.as_os_str().as_encoded_bytes()).to_hex();
    state.join("projects").join(format!("{name}.lock"))
}

/// Nobody else changes the lock of a project, in this process or another, until what this gives is dropped.
fn alone(guard: &Path) -> Result<File, ProjectError> {
    let hold = || {
        if let Some(folder) = guard.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_folder::make(folder)?;
        }
        let busy = "another program is changing what is accepted and does not come to an end; try again later";
        file_lock::hold(guard, PATIENCE)?.ok_or_else(|| std::io::Error::other(busy))
    };
    hold().map_err(|error| ProjectError::file(guard, error))
}

fn write(folder: &Path, lock: &Lock) -> Result<(), ProjectError> {
    let text = lock.to_text().map_err(|error| ProjectError::Lock(error.to_string()))?;
    text::write(&file(folder), &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_mcp::lock::{LockedEndpoint, Offer};
    use agent_spaces_mcp::secrets::Redactor;

    fn server(address: &str) -> LockedServer {
        LockedServer::of(LockedEndpoint::remote(address), &Offer::default(), &Redactor::default()).unwrap()
    }

    #[test]
    fn of_many_who_accept_a_server_first_one_does_and_no_other_server_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let guard = &guard(path, Some(&path.join("state")));
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
    fn a_project_has_one_guard_however_it_is_named_and_none_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (project, state) = (folder.path().join("project"), folder.path().join("state"));
        std::fs::create_dir(&project).unwrap();
        let of = |named: &str| guard(&folder.path().join(named), Some(&state));
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
