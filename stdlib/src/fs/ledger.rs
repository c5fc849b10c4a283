//! The count of what a workspace holds, in a file that all processes share.
//!
//! Who changes the workspace holds a lock on the file from before it reads the count until its change is made, so that
//! processes cannot exceed a limit together. The count is written before what it stands for is: a process that dies in
//! between leaves a count that is too high, never too low, and only until the next one counts anew.

use super::usage::Count;
use crate::error::StdError;
use cap_fs_ext::MetadataExt;
use cap_std::fs::Dir;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longer than counting or deleting a full workspace takes on a slow disk. A process that was stopped while it holds the
/// lock must not keep others waiting for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often the lock is tried: seldom enough to cost nothing, often enough for many small writes.
const RETRY: Duration = Duration::from_millis(1);

/// Four numbers, and a hash that tells whether they were written whole.
const NUMBERS: usize = 4;
const NUMBERS_BYTES: usize = NUMBERS * 8;
const RECORD_BYTES: usize = NUMBERS_BYTES + 8;

/// Where the count of one workspace stands.
#[derive(Debug)]
pub(super) struct Ledger {
    folder: PathBuf,
    /// By the folder's identity: a workspace that is reached by two paths has one count.
    name: String,
}

/// The count, held against all other processes until it is dropped.
pub(super) struct HeldLedger(File);

impl Ledger {
    pub(super) fn of(workspace: &Dir, folder: PathBuf) -> io::Result<Ledger> {
        let metadata = workspace.dir_metadata()?;
        Ok(Ledger { folder, name: format!("{:x}-{:x}", metadata.dev(), metadata.ino()) })
    }

    /// Waits for the right to change the workspace.
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
    /// The count that was written last; none where there is none that is whole.
    pub(super) fn read(&mut self) -> Result<Option<Count>, StdError> {
        let mut record = Vec::with_capacity(RECORD_BYTES);
        let mut read = || {
            self.0.seek(SeekFrom::Start(0))?;
            (&self.0).take(RECORD_BYTES as u64).read_to_end(&mut record)
        };
        read().map_err(|error| unusable(&error))?;
        Ok(decode(&record))
    }

    /// Writes a count down for the next one; none has it count anew.
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

/// The kind's own words: the text of the error could hold a path.
fn unusable(error: &io::Error) -> StdError {
    let message = format!(
        "Nothing can be written: the count of what the workspace holds cannot be kept ({}); the host needs a state folder that \
         it can write to",
        error.kind()
    );
    StdError::unavailable(message).because("uncounted")
}
