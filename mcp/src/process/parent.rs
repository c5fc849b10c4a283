//! Notices that the parent of this process is gone, however it ended.

use rustix::process::getppid;
use std::io;
use std::thread;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often the parent is looked for where the system does not tell.
const POLL: Duration = Duration::from_millis(100);

/// Watches the parent, which must be this process. Cancels the token when it is gone.
pub(super) fn watch(parent: u32) -> io::Result<CancellationToken> {
    let parent = super::pid(parent).ok_or(io::ErrorKind::InvalidInput)?;
    #[cfg(target_os = "linux")]
    let end = rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty());
    // Only now: before, the number could have come to mean another process while it was opened.
    if getppid() != Some(parent) {
        return Err(io::Error::other("the process that wanted it is gone"));
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

/// Waits until the process behind a descriptor has ended.
#[cfg(target_os = "linux")]
fn wait_for(end: &std::os::fd::OwnedFd) {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut ends = [PollFd::new(end, PollFlags::IN)];
    while poll(&mut ends, None) == Err(rustix::io::Errno::INTR) {}
}
