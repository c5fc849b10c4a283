//! Terminal mode from before a line is edited: restored when a signal ends the command meanwhile.

#[cfg(unix)]
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
#[cfg(unix)]
use std::io::Write as _;
#[cfg(unix)]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Turns bracketed paste off, which the editor turned on, and starts a line.
#[cfg(unix)]
const PASTE_OFF: &[u8] = b"\x1b[?2004l\n";

/// The saved mode; `None` while no line is edited.
#[cfg(unix)]
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

#[cfg(unix)]
fn saved() -> MutexGuard<'static, Option<Termios>> {
    SAVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Saves the mode. Call it before a line is edited.
pub(super) fn save() {
    #[cfg(unix)]
    {
        *saved() = tcgetattr(std::io::stdin()).ok();
    }
}

/// Forgets the mode. Call it after the line: the editor has restored the mode itself.
pub(super) fn forget() {
    #[cfg(unix)]
    {
        *saved() = None;
    }
}

/// Restores the saved mode, if there is one, before the process exits.
pub(super) fn restore() {
    #[cfg(unix)]
    if let Some(mode) = saved().take() {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &mode);
        let _ = std::io::stdout().write_all(PASTE_OFF);
    }
}
