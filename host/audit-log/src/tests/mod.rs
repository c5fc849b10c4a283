//! Tests of writing, reading, tampering, crashes, rotation and shipping.

mod append;
mod crash;
mod pages;
mod permissions;
mod recorder;
mod rotation;
mod shipping;
mod tamper;
mod warnings;

use crate::log::AuditLog;
use crate::verify::{Verification, Verified};
use crate::{AuditError, Tampered};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// A boot id.
const BOOT: &str = "b007";
/// The next one.
const NEXT_BOOT: &str = "b008";

/// A log and its head folder.
struct Place {
    _folder: TempDir,
    log: PathBuf,
    heads: PathBuf,
}

impl Place {
    fn new() -> Place {
        // Every byte of a log is changed here, which would be slow on a disk.
        let memory = Some(PathBuf::from("/dev/shm")).filter(|memory| memory.is_dir());
        let folder = tempfile::tempdir_in(memory.unwrap_or_else(std::env::temp_dir)).expect("folder");
        let (log, heads) = (folder.path().join("logs/audit.jsonl"), folder.path().join("heads"));
        Place { _folder: folder, log, heads }
    }

    /// A log of this many entries. Only `live.json` signs the last of them; both heads sign the others.
    fn with(count: u64) -> Place {
        let place = Place::new();
        let log = place.open();
        for number in 1..=count {
            log.flush().expect("flushed");
            log.append(&[entry(number)]).expect("appended");
        }
        crash(log);
        place
    }

    fn open(&self) -> AuditLog {
        self.open_in(BOOT).expect("opens")
    }

    /// Opened by a process that never syncs by itself.
    fn open_in(&self, boot: &str) -> Result<AuditLog, AuditError> {
        Ok(AuditLog::open_in(Some(boot.to_owned()), &self.log, &self.heads)?.sync_every(Duration::MAX))
    }

    fn verify(&self) -> Result<Verified, Tampered> {
        self.verify_in(BOOT)
    }

    /// Returns only tampering; I/O errors cannot be compared.
    fn verify_in(&self, boot: &str) -> Result<Verified, Tampered> {
        match self.check(Some(boot)) {
            Ok(verified) => Ok(verified),
            Err(AuditError::Tampered(tampered)) => Err(tampered),
            Err(other) => panic!("{other}"),
        }
    }

    fn check(&self, boot: Option<&str>) -> Result<Verified, AuditError> {
        self.verification(false).check_in(boot)
    }

    fn verification(&self, is_copy: bool) -> Verification<'_> {
        Verification { log: &self.log, heads: &self.heads, is_copy, shipped: None }
    }

    fn read(&self) -> Vec<u8> {
        fs::read(&self.log).expect("readable")
    }

    fn write(&self, bytes: impl AsRef<[u8]>) {
        fs::write(&self.log, bytes).expect("writable");
    }

    fn lines(&self) -> Vec<String> {
        String::from_utf8(self.read()).expect("text").lines().map(str::to_owned).collect()
    }

    fn entries(&self) -> Vec<Value> {
        self.lines().iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["entry"].clone()).collect()
    }

    /// All files of the head folder, to go back to.
    fn heads(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(&self.heads).expect("folder").map(|file| file.expect("file").path());
        files.map(|path| (path.clone(), fs::read(&path).expect("readable"))).collect()
    }

    fn restore(&self, files: &[(PathBuf, Vec<u8>)]) {
        for name in ["head.json", "live.json"] {
            let _ = fs::remove_file(self.heads.join(name));
        }
        for (path, bytes) in files {
            fs::write(path, bytes).expect("writable");
        }
    }
}

fn entry(number: u64) -> Value {
    json!({ "type": "call", "number": number, "text": "Grüße, \"you\"\n" })
}

/// Simulates a crash: no destructor runs.
fn crash(log: AuditLog) {
    std::mem::forget(log);
}

/// Result for a log of one file, besides its entries.
fn one_file() -> Verified {
    Verified { files: 1, ..Verified::default() }
}
