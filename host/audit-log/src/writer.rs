//! Writer thread: writes batches, with retries, until the recorder is closed.

use crate::error::AuditError;
use crate::log::{Appended, AuditLog};
use crate::queue::Batch;
use crate::shared::{LOCK_WAIT, Shared};
use crate::ship::Shipper;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Pause after the first failure, doubled each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Longest pause between attempts while closing.
const CLOSING_PAUSE: Duration = Duration::from_millis(200);

/// Writes batches until the recorder is closed.
pub(crate) fn write(shared: &Shared) {
    let mut writer = Writer::new(shared);
    let mut pause = FIRST_PAUSE;
    while let Some(work) = next(shared, &writer) {
        let Work::Write(batch) = work else {
            writer.tidy();
            continue;
        };
        match writer.append(&batch.texts) {
            Ok(appended) => {
                let mut queue = shared.queue();
                let was_failing = queue.failing.is_some();
                queue.settle();
                drop(queue);
                if was_failing {
                    shared.warn("the audit log is written again");
                }
                writer.after(appended);
                pause = FIRST_PAUSE;
            }
            Err(error) => {
                shared.fail(&error);
                if !rest(shared, pause) {
                    break;
                }
                pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
            }
        }
    }
    writer.end();
}

/// Returns the next task; `None` when the recorder is closed and all is written.
fn next(shared: &Shared, writer: &Writer<'_>) -> Option<Work> {
    let mut queue = shared.queue();
    loop {
        if let Some(batch) = queue.batch() {
            return Some(Work::Write(batch));
        }
        if queue.closing.is_some() {
            return None;
        }
        queue = match writer.tidy_in() {
            None => shared.work.wait(queue).unwrap_or_else(PoisonError::into_inner),
            Some(Duration::ZERO) => return Some(Work::Tidy),
            Some(left) => shared.work.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0,
        };
    }
}

/// Waits before the next attempt. Returns false if there is none.
fn rest(shared: &Shared, pause: Duration) -> bool {
    let begun = Instant::now();
    let mut queue = shared.queue();
    loop {
        let now = Instant::now();
        let left = match queue.closing {
            Some(deadline) if now >= deadline => return false,
            // Do not delay closing by a long pause.
            Some(_) => pause.min(CLOSING_PAUSE).saturating_sub(begun.elapsed()),
            None => pause.saturating_sub(begun.elapsed()),
        };
        if left.is_zero() {
            return true;
        }
        queue = shared.work.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Task of the writer.
enum Work {
    Write(Batch),
    /// Periodic work without new entries.
    Tidy,
}

/// State of the writer thread.
struct Writer<'a> {
    shared: &'a Shared,
    log: Option<AuditLog>,
    shipper: Option<Shipper>,
    /// Since when there are unsynced entries.
    unsynced: Option<Instant>,
    /// Time of the last shipped head, and whether there are newer entries.
    shipped: Instant,
    has_news: bool,
    /// True if the failed rotation was already reported.
    has_told: bool,
}

impl<'a> Writer<'a> {
    fn new(shared: &'a Shared) -> Writer<'a> {
        let log = shared.queue().log.take();
        let shipper = shared.settings.shipping.clone().map(|to| Shipper::start(to, &shared.settings.log));
        let (unsynced, shipped) = (None, Instant::now());
        Writer { shared, log, shipper, unsynced, shipped, has_news: false, has_told: false }
    }

    fn append(&mut self, texts: &[String]) -> Result<Appended, AuditError> {
        let log = match self.log.take() {
            Some(log) => log,
            None => self.shared.open_log(LOCK_WAIT)?,
        };
        self.shared.show_presence()?;
        let appended = log.append_texts(texts);
        // The folder may have been replaced, so reopen after a fault.
        if matches!(appended, Ok(_) | Err(AuditError::Busy { .. })) {
            self.log = Some(log);
        }
        appended
    }

    fn after(&mut self, appended: Appended) {
        let had_told = std::mem::replace(&mut self.has_told, appended.fault.is_some());
        if let Some(fault) = appended.fault.filter(|_| !had_told) {
            self.shared.warn(format_args!("the audit log cannot be rotated: {fault}"));
        }
        self.has_news = true;
        self.unsynced.get_or_insert_with(Instant::now);
        if appended.is_rotated {
            self.ship();
        }
    }

    /// Returns the time until the next head is shipped.
    fn ship_in(&self) -> Option<Duration> {
        let shipping = self.shared.settings.shipping.as_ref().filter(|_| self.has_news)?;
        Some(shipping.every.saturating_sub(self.shipped.elapsed()))
    }

    /// Returns the time until the next sync.
    fn sync_in(&self) -> Option<Duration> {
        Some(self.shared.settings.sync_every.saturating_sub(self.unsynced?.elapsed()))
    }

    /// Returns the time until periodic work is due.
    fn tidy_in(&self) -> Option<Duration> {
        self.ship_in().into_iter().chain(self.sync_in()).min()
    }

    fn tidy(&mut self) {
        if self.sync_in() == Some(Duration::ZERO) {
            self.unsynced = None;
            // A failure here repeats at the next append, which reports it.
            let _ = self.log.as_ref().map(AuditLog::flush);
        }
        if self.ship_in() == Some(Duration::ZERO) {
            self.ship();
        }
    }

    fn ship(&mut self) {
        self.shipped = Instant::now();
        let (Some(shipper), Some(log)) = (&self.shipper, &self.log) else { return };
        // A failure here repeats at the next append, which reports it.
        if let Ok(head) = log.signed_head() {
            self.has_news = false;
            shipper.send(head);
        }
    }

    fn end(mut self) {
        if self.has_news {
            self.ship();
        }
        // Dropping the log syncs it.
        drop(self.log.take());
        if let Some(shipper) = &self.shipper {
            shipper.finish();
        }
    }
}
