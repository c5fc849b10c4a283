//! Detection that the parent process has ended in any way.

use rustix::process::getppid;
use std::time::Duration;
use std::{io, thread};
use tokio_util::sync::CancellationToken;

/// Polling interval on systems without a notification.
const POLL: Duration = Duration::from_millis(100);

/// Watches the parent, which must have this PID. Returns a token that is cancelled when the parent has ended.
pub(super) fn watch(parent: u32) -> io::Result<CancellationToken> {
    let parent = super::pid(parent).ok_or(io::ErrorKind::InvalidInput)?;
    #[cfg(target_os = "linux")]
    let end = rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty());
    // Checked after opening: the PID could have been reused before.
    if getppid() != Some(parent) {
        return Err(io::Error::other("the parent process has ended"));
    }
    let gone = CancellationToken::new();
    let tell = gone.clone();
    thread::Builder::new().name("parent".to_owned()).spawn(move || {
        #[cfg(target_os = "linux")]
        if let Ok(end) = end {
            wait_for(&end);
        }
        while getppid() == Some(parent) {
            thread::sleep(POLL);
        }
        tell.cancel();
    })?;
    Ok(gone)
}

/// Waits until the process of a pidfd has ended.
#[cfg(target_os = "linux")]
fn wait_for(end: &std::os::fd::OwnedFd) {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut ends = [PollFd::new(end, PollFlags::IN)];
    while poll(&mut ends, None) == Err(rustix::io::Errno::INTR) {}
}
