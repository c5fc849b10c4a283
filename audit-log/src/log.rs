//! Appending.

use crate::boot;
use crate::error::{AuditError, Tampered};
use crate::files::{self, Access};
use crate::heads::{HeadFolder, Heads};
use crate::key::Key;
use crate::line::{Position, entry_text};
use crate::tail::{RECOVERED, Tail};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long appends go on without waiting for the disk, if nothing else is said.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// A log that entries can be added to, by any number of threads and processes.
pub struct AuditLog {
    path: PathBuf,
    folder: HeadFolder,
    key: Key,
    boot: Option<String>,
    sync_every: Duration,
    state: Mutex<State>,
}

struct State {
    lock: File,
    /// When this log last waited for the disk, or was opened.
    synced: Instant,
    /// Whether it wrote something since.
    is_dirty: bool,
}

/// The lock, held.
struct Held<'a>(MutexGuard<'a, State>);

impl AuditLog {
    /// Opens a log, or begins one with its key. The head folder must be another one than the log's.
    pub fn open(log_file: &Path, head_folder: &Path) -> Result<AuditLog, AuditError> {
        AuditLog::open_in(boot::id(), log_file, head_folder)
    }

    pub(crate) fn open_in(boot: Option<String>, path: &Path, folder: &Path) -> Result<AuditLog, AuditError> {
        files::make_folder(folder)?;
        files::check_folder(folder, false)?;
        files::make_folder(files::folder_of(path))?;
        let real = |path: &Path| path.canonicalize().map_err(AuditError::io("look at", path));
        if real(files::folder_of(path))?.starts_with(real(folder)?) {
            return Err(AuditError::SameFolder { log: path.to_owned(), folder: folder.to_owned() });
        }
        let folder = HeadFolder::new(folder);
        let lock = files::open(&folder.lock, Access::Make)?.ok_or_else(|| gone(&folder.lock))?;
        files::lock(&folder.lock, &lock, false)?;
        let key = begin(path, &folder, boot.as_deref())?;
        lock.unlock().map_err(AuditError::io("unlock", &folder.lock))?;
        let state = Mutex::new(State { lock, synced: Instant::now(), is_dirty: false });
        Ok(AuditLog { path: path.to_owned(), folder, key, boot, sync_every: SYNC_EVERY, state })
    }

    /// The same log, with entries brought to the disk by the first append after so long; by every append if it is
    /// zero. Without this it is a second. Besides, [`AuditLog::flush`] does it, and the end of this value.
    ///
    /// What is not on the disk is lost if the machine loses power, and only then.
    #[must_use]
    pub fn sync_every(mut self, interval: Duration) -> AuditLog {
        self.sync_every = interval;
        self
    }

    /// Adds entries, in one go: no entry of others stands between them. An entry of more than [`MAX_ENTRY`] bytes, or
    /// of more than 100 levels, is written as its hash and length.
    ///
    /// [`MAX_ENTRY`]: crate::MAX_ENTRY
    pub fn append(&self, entries: &[Value]) -> Result<(), AuditError> {
        if entries.iter().any(|entry| entry.get("type").is_some_and(|kind| kind == RECOVERED)) {
            return Err(AuditError::ReservedType);
        }
        if entries.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = entries.iter().map(entry_text).collect();
        let mut held = self.hold()?;
        let heads = self.heads()?;
        let log = self.log()?;
        let tail = self.tail(&log, &heads)?;
        let end = self.write(&log, &tail, &texts)?;
        held.0.is_dirty = true;
        let is_due = held.0.synced.elapsed() >= self.sync_every;
        match &self.boot {
            Some(boot) if heads.is_same_boot && !is_due => self.folder.sign_live(&self.key, boot, end),
            _ => self.sync(&mut held, &log, &heads, end),
        }
    }

    /// Brings all entries to the disk.
    pub fn flush(&self) -> Result<(), AuditError> {
        let mut held = self.hold()?;
        let heads = self.heads()?;
        match &heads.live {
            Some(live) if live.count > heads.durable.count => self.sync(&mut held, &self.log()?, &heads, live.clone()),
            _ => Ok(()),
        }
    }

    /// Keeps other threads and processes out.
    fn hold(&self) -> Result<Held<'_>, AuditError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        files::lock(&self.folder.lock, &state.lock, false)?;
        Ok(Held(state))
    }

    fn heads(&self) -> Result<Heads, AuditError> {
        let heads = self.folder.heads(&self.key, self.boot.as_deref())?;
        heads.ok_or_else(|| Tampered::new(format!("the head of {:?} is gone", self.path)).into())
    }

    /// The log as it is now: somebody may have put another file in its place.
    fn log(&self) -> Result<File, AuditError> {
        let log = files::open(&self.path, Access::Append)?.ok_or_else(|| gone(&self.path))?;
        files::check_log(&self.path, &log)?;
        Ok(log)
    }

    /// What stands after the last signed line, after a look at whether that is still there. Whether all before it are,
    /// only `verify` knows; it finds out however much is added here.
    fn tail(&self, log: &File, heads: &Heads) -> Result<Tail, AuditError> {
        let length = files::metadata(&self.path, log)?.len();
        let signed = heads.signed();
        if signed.count > 0 {
            let expected = signed.end();
            let mut found = vec![0; expected.len()];
            let place = signed.bytes.saturating_sub(expected.len() as u64);
            if length < signed.bytes {
                return Err(Tampered::new(format!("the log {:?} was cut short", self.path)).into());
            }
            log.read_exact_at(&mut found, place).map_err(AuditError::io("read", &self.path))?;
            if found != expected {
                return Err(Tampered::at(signed.count, "is not the line that was signed").into());
            }
        }
        Tail::read(&self.path, log, length, heads)
    }

    /// Writes lines, after one about a crash if there was one. Gives the new end of the log.
    fn write(&self, mut log: &File, tail: &Tail, entries: &[String]) -> Result<Position, AuditError> {
        let failed = |error| AuditError::io("write to", &self.path)(error);
        let cut = || log.set_len(tail.end.bytes);
        if tail.torn > 0 {
            cut().map_err(failed)?;
        }
        let time = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut end = tail.end.clone();
        let mut text = String::new();
        if tail.crash.has_happened() {
            let note = serde_json::to_string(&tail.crash).map_err(|error| failed(error.into()))?;
            end.write(&time, &note, &mut text);
        }
        for entry in entries {
            end.write(&time, entry, &mut text);
        }
        if let Err(error) = log.write_all(text.as_bytes()) {
            // A full disk must not leave half a line. If that fails too, the next append sees to it.
            let _ = cut();
            return Err(failed(error));
        }
        Ok(end)
    }

    /// Brings the log to the disk, and then its signature: never the other way round.
    fn sync(&self, held: &mut Held<'_>, log: &File, heads: &Heads, end: Position) -> Result<(), AuditError> {
        log.sync_data().map_err(AuditError::io("write to", &self.path))?;
        if !heads.is_same_boot {
            self.folder.forget_live()?;
        }
        self.folder.sign_durable(&self.key, self.boot.as_deref(), end)?;
        held.0.synced = Instant::now();
        held.0.is_dirty = false;
        Ok(())
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.is_dirty {
            // What is lost without it is lost only if the machine loses power.
            let _ = self.flush();
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // It is let go at the latest when the file is closed.
        let _ = self.0.lock.unlock();
    }
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AuditLog").field("path", &self.path).field("head", &self.folder.path).finish()
    }
}

/// Makes sure that there are a log, a key and a head, all of which are made together.
fn begin(path: &Path, folder: &HeadFolder, boot: Option<&str>) -> Result<Key, AuditError> {
    let key = match Key::load(&folder.key)? {
        Some(key) => key,
        None if folder.has_head()? => {
            return Err(Tampered::new(format!("the key {:?} is gone", folder.key)).into());
        }
        None => Key::make(&folder.key)?,
    };
    let has_head = folder.heads(&key, boot)?.is_some();
    let access = if has_head { Access::Append } else { Access::Make };
    let log = files::open(path, access)?.ok_or_else(|| gone(path))?;
    files::check_log(path, &log)?;
    if has_head {
        return Ok(key);
    }
    if files::metadata(path, &log)?.len() > 0 {
        return Err(Tampered::new(format!("the log {path:?} has no head")).into());
    }
    // A head without a log would look as if somebody had removed the log.
    files::sync_folder(files::folder_of(path))?;
    folder.sign_durable(&key, boot, Position::start(&key))?;
    Ok(key)
}

fn gone(path: &Path) -> AuditError {
    Tampered::new(format!("{path:?} is gone")).into()
}
