//! A terminal device, which can be waited for without being stuck in it.
//!
//! It stays in the mode in which it was found: keys are echoed, lines are edited, Ctrl-C is a signal.

use super::screen::{Screen, Stop};
use capability_gen::shown::Shown;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, isatty, tcflush, tcgetwinsize};
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// The longest line that is read: longer ones are no answer.
const MAX_LINE: usize = 2048;
/// The width of a terminal that does not say.
const USUAL_WIDTH: usize = 80;

/// A terminal that is waited for until the other end of `withdrawn` is closed, or until `expires`.
pub(super) struct Tty {
    file: File,
    withdrawn: PipeReader,
    expires: SystemTime,
    /// The same by a clock that nobody sets.
    deadline: Instant,
}

/// Opens a terminal for one prompt. Reading and writing never wait: [`Tty::wait`] does.
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
        /// A clock cannot count further than it can count.
        const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
        let left = expires.duration_since(SystemTime::now()).unwrap_or_default();
        Tty { file, withdrawn, expires, deadline: Instant::now() + left.min(LONGEST) }
    }

    /// Waits until the terminal can be read or written, or until `until` at most. Says whether it can.
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
                // Whoever waits may have seen the end of its time a moment before us.
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
        if columns == 0 { USUAL_WIDTH } else { columns }
    }

    fn show(&mut self, text: &Shown) -> Result<(), Stop> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            self.wait(PollFlags::OUT, None)?;
            match self.file.write(rest) {
                Ok(0) => return Err(Stop::Ended),
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn discard(&mut self, after: Duration) -> Result<bool, Stop> {
        let until = Instant::now() + after;
        let has_line = self.wait(PollFlags::IN, Some(until))?;
        // Further lines may come: none counts before the time is over.
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
                Err(error) if is_passing(&error) => continue,
                // What is left of a terminal that was closed.
                Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Err(Stop::Ended),
                Err(error) => return Err(error.into()),
            };
            line.extend_from_slice(bytes.get(..count).unwrap_or_default());
            let end = line.iter().position(|byte| *byte == b'\n');
            if end.is_some() || line.len() > MAX_LINE {
                // A line that is too long is cut, and an answer is short: it is none.
                line.truncate(end.unwrap_or(MAX_LINE));
                // Typed while the computer slept, or in the last moment: too late all the same.
                self.wait(PollFlags::empty(), Some(Instant::now()))?;
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }

    fn close(&mut self, text: &'static str) {
        // Whoever stopped the terminal's output need not see it.
        let _ = self.file.write(text.as_bytes());
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
