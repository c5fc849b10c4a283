//! List of accepted files on disk: changed under a file lock, and replaced atomically.

use super::error::TrustError;
use super::permissions;
use agent_spaces_private_fs::{folder, lock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Most files in a list, and most bytes of its file.
const MAX_RECORDS: usize = 10_000;
const MAX_BYTES: u64 = 8 << 20;

/// Longest wait for another process that changes the list.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Format version that this program writes.
const VERSION: u32 = 1;

/// Accepted files, by path.
pub(super) type Records = BTreeMap<String, Record>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) sha256: String,
    #[serde(with = "time")]
    pub(super) when: SystemTime,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    version: u32,
    accepted: Records,
}

#[derive(Debug)]
pub(super) enum Store {
    File(PathBuf),
    Memory(Mutex<Records>),
}

impl Store {
    pub(super) fn in_file(path: PathBuf) -> Store {
        Store::File(path)
    }

    pub(super) fn in_memory() -> Store {
        Store::Memory(Mutex::default())
    }

    pub(super) fn read(&self) -> Result<Records, TrustError> {
        match self {
            Store::File(path) => read_file(path),
            Store::Memory(records) => Ok(records.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        }
    }

    /// Changes the list. `change` returns true if it made a change.
    pub(super) fn change(&self, change: impl FnOnce(&mut Records) -> bool) -> Result<bool, TrustError> {
        match self {
            Store::File(path) => {
                let folder = folder_of(path);
                folder::make(folder).map_err(TrustError::io("create", folder))?;
                check_folder(folder)?;
                let _lock = lock(path)?;
                let mut records = read_file(path)?;
                let is_changed = change(&mut records);
                if is_changed {
                    check_length(path, &records)?;
                    write_file(path, records)?;
                }
                Ok(is_changed)
            }
            Store::Memory(records) => {
                let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
                let mut changed = records.clone();
                let is_changed = change(&mut changed);
                check_length(Path::new("memory"), &changed)?;
                *records = changed;
                Ok(is_changed)
            }
        }
    }
}

fn check_length(path: &Path, records: &Records) -> Result<(), TrustError> {
    match records.len() > MAX_RECORDS {
        true => Err(TrustError::Full { path: path.to_owned() }),
        false => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_folder(folder: &Path) -> Result<(), TrustError> {
    let metadata = fs::metadata(folder).map_err(TrustError::io("look at", folder))?;
    permissions::check(folder, &metadata)
}

/// Reads the records of a file; none if it does not exist.
fn read_file(path: &Path) -> Result<Records, TrustError> {
    let damaged = |reason: String| TrustError::Damaged { path: path.to_owned(), reason };
    match fs::metadata(path) {
        // Opening a pipe or a device could block.
        Ok(metadata) if !metadata.is_file() => return Err(damaged("it is not a regular file".to_owned())),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Records::new()),
        Err(error) => return Err(TrustError::io("look at", path)(error)),
    }
    // A user who can write the folder can replace this file.
    check_folder(folder_of(path))?;
    let file = File::open(path).map_err(TrustError::io("read", path))?;
    permissions::check(path, &file.metadata().map_err(TrustError::io("look at", path))?)?;
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(TrustError::io("read", path))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(damaged(format!("it is larger than {MAX_BYTES} bytes")));
    }
    let list: List = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    match list.version {
        VERSION => Ok(list.accepted),
        version => Err(damaged(format!("unsupported version {version} (this program supports {VERSION})"))),
    }
}

/// Replaces the file atomically: a reader sees the new list or the old one.
fn write_file(path: &Path, accepted: Records) -> Result<(), TrustError> {
    let failed = |error: std::io::Error| TrustError::io("write", path)(error);
    let text =
        serde_json::to_string_pretty(&List { version: VERSION, accepted }).map_err(|error| failed(error.into()))?;
    if text.len() as u64 >= MAX_BYTES {
        return Err(TrustError::Full { path: path.to_owned() });
    }
    // `tempfile` creates files with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path)).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.write_all(b"\n").map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Locks the list against changes by other processes until the returned file is dropped. The list itself is replaced,
/// so the lock is another file.
fn lock(path: &Path) -> Result<File, TrustError> {
    let mut path = path.as_os_str().to_owned();
    path.push(".lock");
    let path = PathBuf::from(path);
    let held = lock::hold(&path, LOCK_WAIT).map_err(TrustError::io("lock", &path))?;
    held.ok_or(TrustError::Busy { path })
}

/// Times in RFC 3339.
mod time {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::SystemTime;

    pub(super) fn serialize<S: Serializer>(when: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339_seconds(*when))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_rfc3339(&text).map_err(D::Error::custom)
    }
}
