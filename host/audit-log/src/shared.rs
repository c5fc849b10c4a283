//! State shared by a recorder and its writer: the queue, and access to the log.

use crate::error::AuditError;
use crate::heads::HeadFolder;
use crate::log::AuditLog;
use crate::operator;
use crate::presence::Presence;
use crate::queue::Queue;
use crate::settings::Settings;
use std::fmt::Display;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lock timeout of one attempt. Shorter than callers wait, so that they get the reason.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(2);

/// State shared by a recorder and its writer.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    queue: Mutex<Queue>,
    /// Signals work for the writer.
    pub(crate) work: Condvar,
    /// Signals that the writer has ended.
    pub(crate) ended: Condvar,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Shared {
        Shared { settings, queue: Mutex::default(), work: Condvar::new(), ended: Condvar::new() }
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the presence file if missing.
    pub(crate) fn show_presence(&self) -> Result<(), AuditError> {
        if self.queue().presence.is_none() {
            let presence = Presence::make(&HeadFolder::new(&self.settings.heads))?;
            let mut queue = self.queue();
            queue.presence = Some(presence);
            queue.show();
        }
        Ok(())
    }

    pub(crate) fn open_log(&self, wait: Duration) -> Result<AuditLog, AuditError> {
        let log = AuditLog::open_waiting(&self.settings.log, &self.settings.heads, wait)?;
        let log = log.sync_every(self.settings.sync_every).lock_wait(LOCK_WAIT);
        Ok(match self.settings.rotation {
            Some(rotation) => log.rotate(rotation),
            None => log,
        })
    }

    /// Warns the operator about this log.
    pub(crate) fn warn(&self, text: impl Display) {
        operator::warn(&self.settings.log, text);
    }

    /// Records a failure. Warns once until writing works again.
    pub(crate) fn fail(&self, error: &AuditError) {
        if self.queue().fail(error.to_string()) {
            self.warn(format_args!("the audit log cannot be written: {error}; retrying"));
        }
    }
}
