//! Shipping of signed heads to a second file or a command, in a thread of its own.
//!
//! Only the newest head matters, since it covers all before it. An undelivered head is replaced by the next, so nothing
//! queues up behind a command that hangs.

use crate::error::AuditError;
use crate::files::{self, Access};
use crate::operator;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Timeout of the command.
const COMMAND_TIME: Duration = Duration::from_secs(10);

/// Maximum time that closing waits for the last delivery.
const FINISH_WAIT: Duration = Duration::from_secs(11);

/// Retry interval of a failed delivery.
const RETRY: Duration = Duration::from_secs(30);

/// Polling interval for the end of a command.
const LOOK: Duration = Duration::from_millis(10);

/// Environment variables passed to the command.
const ENVIRONMENT: &[&str] = &["PATH", "HOME", "USER", "LANG"];

/// Shipping settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipping {
    /// Shortest interval, if there are new entries; heads are also shipped at each rotation and at the end.
    pub every: Duration,
    /// File that receives one line per head, for example on another disk.
    pub file: Option<PathBuf>,
    /// Command line that receives the head on standard input.
    pub command: Vec<String>,
}

/// Delivers heads.
pub(crate) struct Shipper(Arc<Shared>);

struct Shared {
    to: Shipping,
    /// The log, named in warnings.
    log: PathBuf,
    slot: Mutex<Slot>,
    changed: Condvar,
}

#[derive(Default)]
struct Slot {
    next: Option<String>,
    is_busy: bool,
    is_closing: bool,
    has_thread: bool,
    has_warned: bool,
}

impl Shipper {
    pub(crate) fn start(to: Shipping, log: &Path) -> Shipper {
        let shared = Arc::new(Shared { to, log: log.to_owned(), slot: Mutex::default(), changed: Condvar::new() });
        let thread = std::thread::Builder::new().name("audit heads".into());
        let started = thread.spawn({
            let shared = shared.clone();
            move || shared.work()
        });
        shared.slot().has_thread = started.is_ok();
        Shipper(shared)
    }

    /// Queues a head. Without a thread it is delivered here.
    pub(crate) fn send(&self, line: String) {
        let mut slot = self.0.slot();
        if !slot.has_thread {
            drop(slot);
            self.0.deliver(&line);
            return;
        }
        slot.next = Some(line);
        self.0.changed.notify_all();
    }

    /// Waits until the last head is delivered, or was retried once.
    pub(crate) fn finish(&self) {
        let begun = Instant::now();
        let mut slot = self.0.slot();
        slot.is_closing = true;
        self.0.changed.notify_all();
        while slot.has_thread && (slot.is_busy || slot.next.is_some()) {
            let left = FINISH_WAIT.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return;
            }
            let waited = self.0.changed.wait_timeout(slot, left);
            slot = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut retry = None;
        loop {
            let mut slot = self.slot();
            while slot.next.is_none() && !slot.is_closing {
                slot = match retry {
                    None => self.changed.wait(slot).unwrap_or_else(PoisonError::into_inner),
                    Some(_) => self.changed.wait_timeout(slot, RETRY).unwrap_or_else(PoisonError::into_inner).0,
                };
                if slot.next.is_none() {
                    slot.next = retry.take();
                }
            }
            let is_last = slot.is_closing;
            let Some(line) = slot.next.take().or_else(|| retry.take()) else { break };
            slot.is_busy = true;
            drop(slot);
            let is_delivered = self.deliver(&line);
            self.slot().is_busy = false;
            self.changed.notify_all();
            retry = (!is_delivered && !is_last).then_some(line);
        }
        self.slot().has_thread = false;
        self.changed.notify_all();
    }

    /// Delivers a head to all targets. Warns of the first failure after a success.
    fn deliver(&self, line: &str) -> bool {
        let to_file = self.to.file.as_deref().map_or(Ok(()), |file| to_file(file, line));
        let to_command = to_command(&self.to.command, line);
        let failed = to_file.map_err(|error| error.to_string()).and(to_command).err();
        let has_warned = std::mem::replace(&mut self.slot().has_warned, failed.is_some());
        if let Some(why) = failed.filter(|_| !has_warned) {
            operator::warn(&self.log, format_args!("the head of the audit log could not be shipped: {why}"));
        }
        !self.slot().has_warned
    }
}

/// Appends a line to a file and syncs it.
fn to_file(path: &Path, line: &str) -> Result<(), AuditError> {
    let failed = |error| AuditError::io("write to", path)(error);
    let missing = || AuditError::io("open", path)(io::ErrorKind::NotFound.into());
    let mut file = files::open(path, Access::Make)?.ok_or_else(missing)?;
    let length = files::metadata(path, &file)?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1).map_err(failed)?;
    }
    // Do not continue a torn line.
    let begin = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{begin}{line}\n").as_bytes()).and_then(|()| file.sync_data()).map_err(failed)
}

/// Pipes a line to the command, if there is one.
fn to_command(command: &[String], line: &str) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let failed = |error: io::Error| format!("{program:?}: {error}");
    let environment = ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut started = Command::new(program);
    started.args(arguments).env_clear().envs(environment);
    started.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = started.spawn().map_err(failed)?;
    // Fits the pipe buffer, so writing never blocks. The command may end without reading.
    let _ = child.stdin.take().map(|mut input| input.write_all(format!("{line}\n").as_bytes()));
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("{program:?} ended with {status}")),
            None if begun.elapsed() > COMMAND_TIME => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program:?} took longer than {} s", COMMAND_TIME.as_secs()));
            }
            None => std::thread::sleep(LOOK),
        }
    }
}
