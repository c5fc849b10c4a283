//! Presence files: which processes have the log open, and how many of the entries that they accepted are written.
//!
//! A process that queues entries has a file in the folder `open` of the head folder, locked for as long as it lives, with
//! its counts. It is removed at the end if all entries were written. A file that nobody holds is that of a process that was
//! killed or gave up: the entries between its counts are missing from the log, and the next append writes a gap record.

use crate::error::AuditError;
use crate::files::{self, Access};
use crate::gap::Gap;
use crate::heads::HeadFolder;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::{File, TryLockError};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// More than a presence file has.
const MAX_TEXT: u64 = 256;

/// Most files that are looked at. More than there are processes of one user; what is left is looked at next time.
const MAX_FILES: usize = 1000;

/// How the name of a file begins that is not held yet.
const HIDDEN: char = '.';

/// How many entries a process took, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Taken.
    pub(crate) accepted: u64,
    /// Of these, in the log, or told by a gap record there.
    pub(crate) settled: u64,
    /// When the first that is not settled was taken, in milliseconds since 1970.
    pub(crate) since: u64,
}

impl Counts {
    /// Entries that are not in the log.
    pub(crate) fn open(self) -> u64 {
        self.accepted.saturating_sub(self.settled)
    }

    /// All of one length, so that one can be written over another.
    fn text(self) -> String {
        format!("{:020} {:020} {:020}\n", self.accepted, self.settled, self.since)
    }

    fn read(text: &[u8]) -> Option<Counts> {
        let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        Some(Counts { accepted: next()?, settled: next()?, since: next()? })
    }
}

/// The file of this process, held.
pub(crate) struct Presence {
    file: File,
    path: PathBuf,
}

impl Presence {
    /// Makes a file for this process. It needs no lock of the log, which somebody else may hold for long: the file gets
    /// its name when it is held already.
    pub(crate) fn make(folder: &HeadFolder) -> Result<Presence, AuditError> {
        files::make_folder(&folder.path)?;
        files::check_folder(&folder.path, false)?;
        let folder = &folder.open;
        files::make_folder(folder)?;
        let mut random = [0; 8];
        SystemRandom::new().fill(&mut random).map_err(|_| AuditError::NoRandom)?;
        let name = format!("{}-{}", std::process::id(), crate::line::hex(&random));
        let (new, path) = (folder.join(format!("{HIDDEN}{name}")), folder.join(name));
        let file = files::create(&new)?;
        file.try_lock().map_err(|error| AuditError::io("lock", &new)(error.into()))?;
        let presence = Presence { file, path };
        presence.update(Counts::default())?;
        files::rename(&new, &presence.path)?;
        Ok(presence)
    }

    /// Writes the counts, without waiting for the disk.
    pub(crate) fn update(&self, counts: Counts) -> Result<(), AuditError> {
        let written = self.file.write_all_at(counts.text().as_bytes(), 0);
        written.map_err(AuditError::io("write", &self.path))
    }

    /// Ends it. It stays if entries are missing.
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
    /// Whether its process still has it.
    pub(crate) is_held: bool,
    pub(crate) counts: Counts,
    path: PathBuf,
    process: String,
}

impl Found {
    /// What is to be written about it.
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

/// All presence files of a folder.
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
        // One whose process ends at this moment is gone.
        let Some(file) = files::open(&path, Access::Read)? else { continue };
        let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let text = files::read(&path, MAX_TEXT)?.unwrap_or_default();
        // A file without counts is that of a process that ended before it took an entry, or of a machine that lost power.
        let counts = Counts::read(&text).unwrap_or_default();
        let process = name.split('-').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        found.push(Found { is_held, counts, path, process });
    }
    Ok(found)
}
