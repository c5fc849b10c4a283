//! Priorities of the threads that compute. Lowering one needs no right; where the system refuses, all are equal.

/// Steps by which a thread that computes is below the others: it gets a quarter of a core that another wants, too, and one of
/// the others that wakes up comes first.
#[cfg(target_os = "linux")]
const LOWER: i32 = 5;

/// Steps by which the thread of a late poll is below those, which leaves it a quarter of a core that they want. Not the lowest
/// priority: that is one percent, and whoever waits for a lock that the thread has would wait for as long as they compute.
#[cfg(target_os = "linux")]
const LATE_LOWER: i32 = 5;

/// A thread of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadId(#[cfg(target_os = "linux")] Option<(rustix::process::Pid, i32)>);

#[cfg(target_os = "linux")]
impl ThreadId {
    #[cfg(test)]
    pub(super) const NONE: ThreadId = ThreadId(None);

    /// Returns the thread that asks, and lowers its priority.
    pub(super) fn lowered() -> ThreadId {
        // On Linux both are of the thread, not of the process.
        let lowered = rustix::process::nice(LOWER).ok();
        ThreadId(lowered.map(|priority| (rustix::thread::gettid(), priority)))
    }

    /// Lowers a thread below the others that compute, for ever: raising it needs a right.
    pub(super) fn lower_again(self) {
        if let Some((thread, priority)) = self.0 {
            let _is_equal_otherwise = rustix::process::setpriority_process(Some(thread), priority + LATE_LOWER);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl ThreadId {
    #[cfg(test)]
    pub(super) const NONE: ThreadId = ThreadId();

    /// Elsewhere priorities are of the whole process.
    pub(super) fn lowered() -> ThreadId {
        ThreadId()
    }

    pub(super) fn lower_again(self) {}
}
