//! Workspace usage count in a file shared by all processes.
//!
//! A process that changes the workspace holds a lock on the file from reading the count until its change is made, so
//! that processes cannot exceed a limit together. The count is written before the change: a process that dies in
//! between leaves a count that is too high, never too low, until the next recount.

use super::usage::Count;
use crate::error::StdError;
use cap_fs_ext::MetadataExt;
use cap_std::fs::Dir;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Lock timeout, longer than counting or deleting a full workspace takes on a slow disk. A stopped process must not
/// block others for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// Interval between attempts to take the lock.
const RETRY: Duration = Duration::from_millis(1);

/// Four numbers, and a checksum that detects torn writes.
const NUMBERS: usize = 4;
const NUMBERS_BYTES: usize = NUMBERS * 8;
const RECORD_BYTES: usize = NUMBERS_BYTES + 8;

/// Count file of one workspace.
#[derive(Debug)]
pub(super) struct Ledger {
    folder: PathBuf,
    /// Derived from the folder's identity: a workspace reached by two paths has one count.
    name: String,
}

/// Locked count, released on drop.
pub(super) struct HeldLedger(File);

impl Ledger {
    pub(super) fn of(workspace: &Dir, folder: PathBuf) -> io::Result<Ledger> {
        let metadata = workspace.dir_metadata()?;
        Ok(Ledger { folder, name: format!("{:x}-{:x}", metadata.dev(), metadata.ino()) })
    }

    /// Takes the lock.
    pub(super) fn hold(&self) -> Result<HeldLedger, StdError> {
        let file = self.open().map_err(|error| unusable(&error))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(HeldLedger(file)),
                Err(TryLockError::Error(error)) => return Err(unusable(&error)),
                Err(TryLockError::WouldBlock) if begun.elapsed() >= PATIENCE => {
                    let message = "Another process has been changing the workspace for too long; try again later";
                    return Err(StdError::unavailable(message).because("busy"));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
            }
        }
    }

    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = self.folder.join(&self.name);
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut builder = DirBuilder::new();
                builder.recursive(true);
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(&self.folder)?;
                options.open(&path)
            }
            opened => opened,
        }
    }
}

impl HeldLedger {
    /// Reads the last count; `None` if there is none or it is torn.
    pub(super) fn read(&mut self) -> Result<Option<Count>, StdError> {
        let mut record = Vec::with_capacity(RECORD_BYTES);
        let mut read = || {
            self.0.seek(SeekFrom::Start(0))?;
            (&self.0).take(RECORD_BYTES as u64).read_to_end(&mut record)
        };
        read().map_err(|error| unusable(&error))?;
        Ok(decode(&record))
    }

    /// Writes a count; `None` forces a recount.
    pub(super) fn write(&mut self, count: Option<&Count>) -> Result<(), StdError> {
        let record = count.map_or([0; RECORD_BYTES], encode);
        let mut write = || {
            self.0.seek(SeekFrom::Start(0))?;
            self.0.write_all(&record)
        };
        write().map_err(|error| unusable(&error))
    }
}

fn encode(count: &Count) -> [u8; RECORD_BYTES] {
    let numbers = [count.bytes, count.entries as u64, count.counted_at, count.trusted_until];
    let mut record = [0; RECORD_BYTES];
    let (text, hash) = record.split_at_mut(NUMBERS_BYTES);
    for (place, number) in text.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    hash.copy_from_slice(&hash_of(text));
    record
}

fn decode(record: &[u8]) -> Option<Count> {
    let (text, hash) = record.split_at_checked(NUMBERS_BYTES)?;
    if hash != hash_of(text) {
        return None;
    }
    let mut numbers = text.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    Some(Count {
        bytes: numbers.next()?,
        entries: numbers.next()?.try_into().ok()?,
        counted_at: numbers.next()?,
        trusted_until: numbers.next()?,
    })
}

fn hash_of(text: &[u8]) -> [u8; 8] {
    blake3::hash(text).as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Only the kind: the error's text could contain a path.
fn unusable(error: &io::Error) -> StdError {
    let message = format!(
        "Nothing can be written: the count of what the workspace holds cannot be kept ({}); the host needs a state folder that \
         it can write to",
        error.kind()
    );
    StdError::unavailable(message).because("uncounted")
}
