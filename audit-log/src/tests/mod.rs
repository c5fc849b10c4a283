//! Logs that are written, changed behind their back, and cut off by crashes.

mod append;
mod crash;
mod places;
mod recorder;
mod rotation;
mod shipping;
mod tamper;

use crate::log::AuditLog;
use crate::verify::{Verification, Verified};
use crate::{AuditError, Tampered};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// A start of the machine.
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
        // Every byte of a log is changed here, and a disk would take its time over each.
        let memory = Some(PathBuf::from("/dev/shm")).filter(|memory| memory.is_dir());
        let folder = tempfile::tempdir_in(memory.unwrap_or_else(std::env::temp_dir)).expect("folder");
        let (log, heads) = (folder.path().join("logs/audit.jsonl"), folder.path().join("heads"));
        Place { _folder: folder, log, heads }
    }

    /// A log of so many entries. The last of them is signed by `live.json` alone, and all others by both heads.
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

    /// Opened by a process that never waits for the disk by itself.
    fn open_in(&self, boot: &str) -> Result<AuditLog, AuditError> {
        Ok(AuditLog::open_in(Some(boot.to_owned()), &self.log, &self.heads)?.sync_every(Duration::MAX))
    }

    fn verify(&self) -> Result<Verified, Tampered> {
        self.verify_in(BOOT)
    }

    /// What is told, without what is no tampering; errors of the system cannot be compared.
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

/// A process ends without a word.
fn crash(log: AuditLog) {
    std::mem::forget(log);
}

/// What is found of a log of one file, besides its entries.
fn one_file() -> Verified {
    Verified { files: 1, ..Verified::default() }
}
