//! Presence files: which processes have the log open, and how many of their accepted entries are written.
//!
//! A process that queues entries keeps a file with its counts in the folder `open` of the head folder, locked while it
//! lives. It is removed at the end if all entries were written. An unlocked file belongs to a process that was killed
//! or gave up: the entries between its counts are missing from the log, and the next append writes a gap record.

use crate::error::AuditError;
use crate::files::{self, Access};
use crate::gap::Gap;
use crate::heads::HeadFolder;
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::{File, TryLockError};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Upper bound of a presence file's size.
const MAX_TEXT: u64 = 256;

/// Most files read at once. More than one user has processes; the rest is read next time.
const MAX_FILES: usize = 1000;

/// Name prefix of a file that is not locked yet.
const HIDDEN: char = '.';

/// Entry counts of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Accepted entries.
    pub(crate) accepted: u64,
    /// Of these, entries in the log or covered by a gap record.
    pub(crate) settled: u64,
    /// Time at which the first unsettled one was accepted, in milliseconds since the Unix epoch.
    pub(crate) since: u64,
}

impl Counts {
    /// Returns the number of entries not in the log.
    pub(crate) fn open(self) -> u64 {
        self.accepted.saturating_sub(self.settled)
    }

    /// Fixed length, so that one can overwrite another.
    fn text(self) -> String {
        format!("{:020} {:020} {:020}\n", self.accepted, self.settled, self.since)
    }

    fn read(text: &[u8]) -> Option<Counts> {
        let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        Some(Counts { accepted: next()?, settled: next()?, since: next()? })
    }
}

/// Locked presence file of this process.
pub(crate) struct Presence {
    file: File,
    path: PathBuf,
}

impl Presence {
    /// Creates the presence file. It does not need the log's lock, which another process may hold for long: the file is
    /// renamed to its final name once locked.
    pub(crate) fn make(folder: &HeadFolder) -> Result<Presence, AuditError> {
        files::make_folder(&folder.path)?;
        files::check_folder(&folder.path, false)?;
        let folder = &folder.open;
        files::make_folder(folder)?;
        let mut random = [0; 8];
        SystemRandom::new().fill(&mut random).map_err(|_| AuditError::NoRandom)?;
        let name = format!("{}-{}", std::process::id(), HEXLOWER.encode(&random));
        let (new, path) = (folder.join(format!("{HIDDEN}{name}")), folder.join(name));
        let file = files::create(&new)?;
        file.try_lock().map_err(|error| AuditError::io("lock", &new)(error.into()))?;
        let presence = Presence { file, path };
        presence.update(Counts::default())?;
        files::rename(&new, &presence.path)?;
        Ok(presence)
    }

    /// Writes the counts, without syncing.
    pub(crate) fn update(&self, counts: Counts) -> Result<(), AuditError> {
        let written = self.file.write_all_at(counts.text().as_bytes(), 0);
        written.map_err(AuditError::io("write", &self.path))
    }

    /// Removes the file, unless entries are missing.
    pub(crate) fn end(self, counts: Counts) {
        if counts.open() > 0 {
            let _ = self.update(counts);
        } else {
            let _ = files::remove(&self.path);
        }
    }
}

/// A presence file that was found.
pub(crate) struct Found {
    /// True if its process still lives.
    pub(crate) is_held: bool,
    pub(crate) counts: Counts,
    path: PathBuf,
    process: String,
}

impl Found {
    /// Returns the gap record to write for it.
    pub(crate) fn gap(&self) -> Option<Gap> {
        let open = self.counts.open();
        let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.counts.since));
        let why = format!("process {} ended before they were written", self.process);
        (open > 0).then(|| Gap::new(open, since.unwrap_or(SystemTime::UNIX_EPOCH), SystemTime::now(), &why))
    }

    pub(crate) fn remove(&self) -> Result<(), AuditError> {
        files::remove(&self.path)
    }
}

/// Lists the presence files of a folder.
pub(crate) fn list(folder: &Path) -> Result<Vec<Found>, AuditError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(AuditError::io("read", folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries.take(MAX_FILES) {
        let path = entry.map_err(AuditError::io("read", folder))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(HIDDEN) {
            continue;
        }
        // Removed meanwhile by its process.
        let Some(file) = files::open(&path, Access::Read)? else { continue };
        let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let text = files::read(&path, MAX_TEXT)?.unwrap_or_default();
        // Without counts: its process ended before it accepted an entry, or the machine lost power.
        let counts = Counts::read(&text).unwrap_or_default();
        let process = name.split('-').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        found.push(Found { is_held, counts, path, process });
    }
    Ok(found)
}
