//! Terminal device with cancellable waits.
//!
//! Its mode is left unchanged: echo, line editing, and Ctrl-C as a signal.

use super::screen::{Screen, Stop};
use agent_spaces_types::shown::Shown;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, isatty, tcflush, tcgetwinsize};
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Longest line that is read: longer ones are no answer.
const MAX_LINE: usize = 2048;
/// Width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

/// Terminal whose waits end when the other end of `withdrawn` is closed, or at `expires`.
pub(super) struct Tty {
    file: File,
    withdrawn: PipeReader,
    expires: SystemTime,
    /// The expiry on the monotonic clock.
    deadline: Instant,
}

/// Opens a terminal for one prompt. Reads and writes never block; [`Tty::wait`] does.
pub(super) fn open_device(device: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(device, flags, Mode::empty())?);
    match isatty(&file) {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a terminal")),
    }
}

impl Tty {
    pub(super) fn new(file: File, withdrawn: PipeReader, expires: SystemTime) -> Tty {
        /// Avoids overflow of `Instant`.
        const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
        let left = expires.duration_since(SystemTime::now()).unwrap_or_default();
        Tty { file, withdrawn, expires, deadline: Instant::now() + left.min(LONGEST) }
    }

    /// Waits until the terminal is ready, or at most until `until`. Returns true if it is ready.
    fn wait(&self, events: PollFlags, until: Option<Instant>) -> Result<bool, Stop> {
        loop {
            if self.is_expired() {
                return Err(Stop::Expired);
            }
            let end = until.map_or(self.deadline, |until| until.min(self.deadline));
            let patience = Timespec::try_from(end.saturating_duration_since(Instant::now())).ok();
            let mut polled = [PollFd::new(&self.withdrawn, PollFlags::IN), PollFd::new(&self.file, events)];
            match poll(&mut polled, patience.as_ref()) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            let [withdrawn, file] = polled.map(|polled| polled.revents());
            if !withdrawn.is_empty() {
                // The waiting side may have seen the expiry a moment earlier.
                return Err(if self.is_expired() { Stop::Expired } else { Stop::Withdrawn });
            }
            if !file.is_empty() {
                return Ok(true);
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(false);
            }
        }
    }

    fn is_expired(&self) -> bool {
        Instant::now() >= self.deadline || SystemTime::now() >= self.expires
    }
}

impl Screen for Tty {
    fn width(&self) -> usize {
        let columns = tcgetwinsize(&self.file).map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { DEFAULT_WIDTH } else { columns }
    }

    fn show(&mut self, text: &Shown) -> Result<(), Stop> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            self.wait(PollFlags::OUT, None)?;
            match self.file.write(rest) {
                Ok(0) => return Err(Stop::Ended),
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if is_transient(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn discard(&mut self, after: Duration) -> Result<bool, Stop> {
        let until = Instant::now() + after;
        let has_line = self.wait(PollFlags::IN, Some(until))?;
        // More lines may come: none counts before the time is over.
        self.wait(PollFlags::empty(), Some(until))?;
        tcflush(&self.file, QueueSelector::IFlush)?;
        Ok(has_line)
    }

    fn line(&mut self) -> Result<String, Stop> {
        let mut line = Vec::new();
        loop {
            self.wait(PollFlags::IN, None)?;
            let mut bytes = [0; MAX_LINE];
            let count = match self.file.read(&mut bytes) {
                Ok(0) => return Err(Stop::Ended),
                Ok(count) => count,
                Err(error) if is_transient(&error) => continue,
                // The terminal was closed.
                Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Err(Stop::Ended),
                Err(error) => return Err(error.into()),
            };
            line.extend_from_slice(bytes.get(..count).unwrap_or_default());
            let end = line.iter().position(|byte| *byte == b'\n');
            if end.is_some() || line.len() > MAX_LINE {
                // An overlong line is truncated, and is not a valid answer.
                line.truncate(end.unwrap_or(MAX_LINE));
                // Typed while the computer slept, or just now: still too late.
                self.wait(PollFlags::empty(), Some(Instant::now()))?;
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }

    fn close(&mut self, text: &'static str) {
        // Best effort: the output may be stopped.
        let _ = self.file.write(text.as_bytes());
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
