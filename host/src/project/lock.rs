//! `capabilities.lock`: what was accepted of a project's MCP servers.

use super::error::ProjectError;
use super::find::join;
use super::text;
use agent_spaces_mcp::lock::{Lock, LockedServer, MAX_LOCK};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const NAME: &str = "capabilities.lock";

/// How long others may take to change it, and how often it is looked whether they have.
const PATIENCE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_millis(5);

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
    let _alone = Alone::wait(folder)?;
    let mut lock = read(folder)?;
    let server = match lock.servers.get(name) {
        Some(before) => server.accepted_over(before),
        None => server,
    };
    lock.servers.insert(name.to_owned(), server);
    write(folder, &lock)
}

/// Writes down what is accepted of a server the first time, unless somebody did meanwhile; gives what counts.
pub(super) fn accept_first(folder: &Path, name: &str, server: LockedServer) -> Result<LockedServer, ProjectError> {
    let _alone = Alone::wait(folder)?;
    let mut lock = read(folder)?;
    if let Some(before) = lock.servers.remove(name) {
        return Ok(before);
    }
    lock.servers.insert(name.to_owned(), server.clone());
    write(folder, &lock)?;
    Ok(server)
}

/// Keeps only these servers; gives the names of the others.
pub(super) fn retain(folder: &Path, keep: impl Fn(&str) -> bool) -> Result<Vec<String>, ProjectError> {
    let _alone = Alone::wait(folder)?;
    let mut lock = read(folder)?;
    let gone: Vec<String> = lock.servers.keys().filter(|name| !keep(name)).cloned().collect();
    if !gone.is_empty() {
        lock.servers.retain(|name, _| keep(name));
        write(folder, &lock)?;
    }
    Ok(gone)
}

/// Nobody else changes the lock of a project, in this process or another, until this is dropped.
struct Alone {
    /// The folder's own: the file is another one after each change.
    _folder: File,
}

impl Alone {
    fn wait(folder: &Path) -> Result<Alone, ProjectError> {
        let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let failed = |error| ProjectError::file(&file(folder), error);
        let folder = File::open(shown).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Alone { _folder: folder }),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(RETRY),
                Err(TryLockError::WouldBlock) => {
                    let message = "another program is changing it and does not come to an end; try again later";
                    return Err(failed(std::io::Error::other(message)));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
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
        let counted: Vec<LockedServer> = std::thread::scope(|scope| {
            let accepting: Vec<_> = (0..12)
                .map(|number| {
                    scope.spawn(move || {
                        accept(path, &format!("own{number}"), server("own:1")).unwrap();
                        accept_first(path, "shared", server(&format!("shared:{number}"))).unwrap()
                    })
                })
                .collect();
            accepting.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let lock = read(path).unwrap();
        assert_eq!(lock.servers.len(), 13, "{:?}", lock.servers.keys());
        assert!(counted.iter().all(|it| *it == lock.servers["shared"]), "all go by what is written");
    }
}
