//! Appending to the log.

use crate::error::{AuditError, Tampered};
use crate::files::{self, Access, LOCK_WAIT};
use crate::gap::{GAP, Gap, time_text};
use crate::heads::{HeadFolder, Heads};
use crate::key::Key;
use crate::line::{Position, entry_text};
use crate::rotate::{self, ROTATED, Rotation, missing};
use crate::shipped::ShippedHead;
use crate::tail::{RECOVERED, Tail};
use crate::{boot, presence};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Default interval between syncs to disk.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Append handle of a log, usable by any number of threads and processes.
pub struct AuditLog {
    path: PathBuf,
    folder: HeadFolder,
    key: Key,
    boot: Option<String>,
    sync_every: Duration,
    lock_wait: Duration,
    rotation: Option<Rotation>,
    state: Mutex<State>,
}

struct State {
    lock: File,
    /// Time of the last sync, or of opening.
    synced: Instant,
    /// True if something was written since.
    is_dirty: bool,
    /// True if it already looked for crashed processes.
    has_looked: bool,
}

/// Side effects of an append.
#[derive(Debug, Default)]
pub(crate) struct Appended {
    /// The log was rotated.
    pub(crate) is_rotated: bool,
    /// Error of a rotation that was due.
    pub(crate) fault: Option<AuditError>,
}

/// Lock guard.
struct Held<'a>(MutexGuard<'a, State>);

impl AuditLog {
    /// Opens a log, or creates one with its key. The head folder must not contain the log.
    pub fn open(log_file: &Path, head_folder: &Path) -> Result<AuditLog, AuditError> {
        AuditLog::open_waiting(log_file, head_folder, LOCK_WAIT)
    }

    /// [`AuditLog::open`] with a lock timeout.
    pub(crate) fn open_waiting(path: &Path, folder: &Path, wait: Duration) -> Result<AuditLog, AuditError> {
        AuditLog::open_with(boot::id(), path, folder, wait)
    }

    #[cfg(test)]
    pub(crate) fn open_in(boot: Option<String>, path: &Path, folder: &Path) -> Result<AuditLog, AuditError> {
        AuditLog::open_with(boot, path, folder, LOCK_WAIT)
    }

    fn open_with(boot: Option<String>, path: &Path, folder: &Path, wait: Duration) -> Result<AuditLog, AuditError> {
        files::make_folder(folder)?;
        files::check_folder(folder, false)?;
        files::make_folder(files::folder_of(path))?;
        let real = |path: &Path| path.canonicalize().map_err(AuditError::io("look at", path));
        if real(files::folder_of(path))?.starts_with(real(folder)?) {
            return Err(AuditError::SameFolder { log: path.to_owned(), folder: folder.to_owned() });
        }
        let folder = HeadFolder::new(folder);
        let lock = files::open(&folder.lock, Access::Make)?.ok_or_else(|| missing(&folder.lock))?;
        files::lock(&folder.lock, &lock, false, wait)?;
        let key = begin(path, &folder, boot.as_deref())?;
        lock.unlock().map_err(AuditError::io("unlock", &folder.lock))?;
        let state = Mutex::new(State { lock, synced: Instant::now(), is_dirty: false, has_looked: false });
        let (path, lock_wait) = (path.to_owned(), LOCK_WAIT);
        Ok(AuditLog { path, folder, key, boot, sync_every: SYNC_EVERY, lock_wait, rotation: None, state })
    }

    /// Sets the sync interval: the first append after it syncs, every append if it is zero. The default is one second.
    /// [`AuditLog::flush`] and dropping the log also sync.
    ///
    /// Unsynced entries are lost only if the machine loses power.
    #[must_use]
    pub fn sync_every(mut self, interval: Duration) -> AuditLog {
        self.sync_every = interval;
        self
    }

    /// Sets the lock timeout, after which appends fail with [`AuditError::Busy`]. The default is ten seconds.
    #[must_use]
    pub fn lock_wait(mut self, wait: Duration) -> AuditLog {
        self.lock_wait = wait;
        self
    }

    /// Enables rotation into a new file. The default is one file.
    #[must_use]
    pub fn rotate(mut self, rotation: Rotation) -> AuditLog {
        self.rotation = Some(rotation);
        self
    }

    /// Appends entries atomically: no other entry comes between them. An entry of more than [`MAX_ENTRY`] bytes, or of
    /// more than 100 levels, is written as its hash and length. On failure none of them is in the log.
    ///
    /// [`MAX_ENTRY`]: crate::MAX_ENTRY
    pub fn append(&self, entries: &[Value]) -> Result<(), AuditError> {
        let texts = entries.iter().map(text_of).collect::<Result<Vec<String>, AuditError>>()?;
        self.append_texts(&texts).map(|_| ())
    }

    /// Appends serialized entries.
    pub(crate) fn append_texts(&self, texts: &[String]) -> Result<Appended, AuditError> {
        if texts.is_empty() {
            return Ok(Appended::default());
        }
        let mut held = self.hold()?;
        let heads = self.heads()?;
        rotate::undo(&self.path, heads.signed())?;
        let log = self.log()?;
        let tail = self.tail(&log, &heads)?;
        let ended = if held.0.has_looked { Vec::new() } else { self.ended()? };
        let gaps = ended.iter().filter_map(presence::Found::gap).collect::<Vec<Gap>>();
        let end = self.write(&log, &tail, &gaps, texts)?;
        held.0.is_dirty = true;
        let is_due = held.0.synced.elapsed() >= self.sync_every;
        let signed = match &self.boot {
            Some(boot) if heads.is_same_boot && !is_due => self.folder.sign_live(&self.key, boot, end.clone()),
            _ => self.sync(&mut held, &log, &heads, end.clone()),
        };
        if let Err(error) = signed
            && !self.is_signed_after_all(&log, &heads, &tail, &end)
        {
            return Err(error);
        }
        held.0.has_looked = ended.iter().all(|ended| ended.remove().is_ok());
        Ok(self.rotate_if_due(&mut held, &log, &end))
    }

    /// Rotates if due. A failure does not undo the append.
    fn rotate_if_due(&self, held: &mut Held<'_>, log: &File, end: &Position) -> Appended {
        let Some(rotation) = self.rotation.filter(|rotation| end.bytes >= rotation.bytes) else {
            return Appended::default();
        };
        let rotated = self.heads().and_then(|heads| {
            self.sync(held, log, &heads, end.clone())?;
            let begun = rotate::begin_file(&self.path, log, &self.key, end, rotation.keep)?;
            self.folder.sign_durable(&self.key, self.boot.as_deref(), begun)
        });
        match rotated.and_then(|()| rotate::remove_old(&self.path)) {
            Ok(()) => Appended { is_rotated: true, fault: None },
            Err(error) => Appended { is_rotated: false, fault: Some(error) },
        }
    }

    /// Returns true if the lines are signed although signing failed at its last step. Otherwise they are removed, or a
    /// retry would write them twice. If that is uncertain they stay, and the next append marks them as `recovered`.
    fn is_signed_after_all(&self, log: &File, before: &Heads, tail: &Tail, end: &Position) -> bool {
        let Ok(heads) = self.heads() else { return false };
        if heads.signed() == before.signed() {
            let _ = log.set_len(tail.end.bytes);
        }
        heads.signed() == end
    }

    /// Lists processes that ended before writing all accepted entries.
    fn ended(&self) -> Result<Vec<presence::Found>, AuditError> {
        Ok(presence::list(&self.folder.open)?.into_iter().filter(|found| !found.is_held).collect())
    }

    /// Syncs all entries, and returns their signed head as a line to keep elsewhere.
    pub fn signed_head(&self) -> Result<String, AuditError> {
        self.flush()?;
        let _held = self.hold()?;
        let heads = self.heads()?;
        Ok(ShippedHead::sign(&self.key, &heads.durable, SystemTime::now()).line())
    }

    /// Syncs all entries to disk.
    pub fn flush(&self) -> Result<(), AuditError> {
        let mut held = self.hold()?;
        let heads = self.heads()?;
        match &heads.live {
            Some(live) if live.count > heads.durable.count => self.sync(&mut held, &self.log()?, &heads, live.clone()),
            _ => Ok(()),
        }
    }

    /// Locks out other threads and processes.
    fn hold(&self) -> Result<Held<'_>, AuditError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        files::lock(&self.folder.lock, &state.lock, false, self.lock_wait)?;
        Ok(Held(state))
    }

    fn heads(&self) -> Result<Heads, AuditError> {
        let heads = self.folder.heads(&self.key, self.boot.as_deref())?;
        heads.ok_or_else(|| Tampered::new(format!("the head of {:?} is missing", self.path)).into())
    }

    /// Opens the log anew: the file may have been replaced.
    fn log(&self) -> Result<File, AuditError> {
        let log = files::open(&self.path, Access::Append)?.ok_or_else(|| missing(&self.path))?;
        files::check_log(&self.path, &log)?;
        Ok(log)
    }

    /// Reads the lines after the last signed one, after checking that one. Only `verify` checks the lines before it,
    /// and detects changes however much is appended.
    fn tail(&self, log: &File, heads: &Heads) -> Result<Tail, AuditError> {
        let length = files::metadata(&self.path, log)?.len();
        let signed = heads.signed();
        if signed.count > 0 {
            let expected = signed.end();
            let mut found = vec![0; expected.len()];
            let place = signed.bytes.saturating_sub(expected.len() as u64);
            if length < signed.bytes {
                return Err(Tampered::new(format!("the log {:?} was truncated", self.path)).into());
            }
            log.read_exact_at(&mut found, place).map_err(AuditError::io("read", &self.path))?;
            if found != expected {
                return Err(Tampered::at(signed.count, "is not the line that was signed").into());
            }
        }
        Tail::read(&self.path, log, length, heads)
    }

    /// Writes lines, preceded by recovery and gap records. Returns the new end of the log.
    fn write(&self, mut log: &File, tail: &Tail, gaps: &[Gap], entries: &[String]) -> Result<Position, AuditError> {
        let failed = |error| AuditError::io("write to", &self.path)(error);
        let cut = || log.set_len(tail.end.bytes);
        if tail.torn > 0 {
            cut().map_err(failed)?;
        }
        let time = time_text(SystemTime::now());
        let mut end = tail.end.clone();
        let mut text = String::new();
        if tail.crash.has_happened() {
            let note = serde_json::to_string(&tail.crash).map_err(|error| failed(error.into()))?;
            end.write(&time, &note, &mut text);
        }
        for gap in gaps {
            let note = serde_json::to_string(gap).map_err(|error| failed(error.into()))?;
            end.write(&time, &note, &mut text);
        }
        for entry in entries {
            end.write(&time, entry, &mut text);
        }
        if let Err(error) = log.write_all(text.as_bytes()) {
            // A full disk must not leave a torn line. If this fails too, the next append repairs it.
            let _ = cut();
            return Err(failed(error));
        }
        Ok(end)
    }

    /// Syncs the log, then its signature: never the other way round.
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
            // Without it, entries are lost only if the machine loses power.
            let _ = self.flush();
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Closing the file releases the lock at the latest.
        let _ = self.0.lock.unlock();
    }
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AuditLog").field("path", &self.path).field("head", &self.folder.path).finish()
    }
}

/// Creates log, key and head together if missing.
fn begin(path: &Path, folder: &HeadFolder, boot: Option<&str>) -> Result<Key, AuditError> {
    let key = match Key::load(&folder.key)? {
        Some(key) => key,
        None if folder.has_head()? => {
            return Err(Tampered::new(format!("the key {:?} is missing", folder.key)).into());
        }
        None => Key::make(&folder.key)?,
    };
    let heads = folder.heads(&key, boot)?;
    let has_head = heads.is_some();
    if let Some(heads) = heads {
        rotate::undo(path, heads.signed())?;
    }
    let access = if has_head { Access::Append } else { Access::Make };
    let log = files::open(path, access)?.ok_or_else(|| missing(path))?;
    files::check_log(path, &log)?;
    if has_head {
        return Ok(key);
    }
    if files::metadata(path, &log)?.len() > 0 {
        return Err(Tampered::new(format!("the log {path:?} has no head")).into());
    }
    // A head without a log would look like a removed log.
    files::sync_folder(files::folder_of(path))?;
    folder.sign_durable(&key, boot, Position::start(&key))?;
    Ok(key)
}

/// Serializes an entry, unless it imitates one of the log's own.
pub(crate) fn text_of(entry: &Value) -> Result<String, AuditError> {
    let own = [RECOVERED, GAP, ROTATED];
    match entry.get("type").and_then(Value::as_str) {
        Some(kind) if own.contains(&kind) => Err(AuditError::ReservedType),
        _ => Ok(entry_text(entry)),
    }
}
