//! Children in groups of their own that never outlive this process.
//!
//! A program that calls [`supervise_if_asked`] first in its `main` starts each server below a supervisor: itself, run
//! again. The supervisor ends the server, and everything that the server started, when it is told to or when its
//! parent is gone, however that happened. On Linux it also finds what left the server's process group or session.
//!
//! Only a `kill -9` of the supervisor itself undoes this.
//!
//! Without that call a server is started directly, in a process group of its own. It is closed in the same steps,
//! but what leaves its group is not found, and a `kill -9` of this process leaves it running until it reads the end
//! of its input.
//!
//! A server with a profile is confined by its supervisor, which is not confined itself: a server cannot signal it. Without
//! a supervisor such a server is not started.

mod child;
pub(crate) mod environment;
#[cfg(target_os = "linux")]
mod family;
#[cfg(unix)]
mod lookup;
mod network;
#[cfg(unix)]
mod parent;
#[cfg(unix)]
mod profile;
#[cfg(unix)]
mod supervisor;

pub use child::{Child, GRACE};
pub use network::{network_variables, withheld_variables};

use std::sync::atomic::{AtomicBool, Ordering};

/// What the first argument of a supervisor is.
#[cfg(unix)]
const MARKER: &str = "__agent-spaces-supervise";

/// What ends a supervisor that could not start its program. A program's own end is told by an exit status, whatever it
/// was, so that none can be mistaken for this; and nobody else sends this signal.
#[cfg(unix)]
const CANNOT_START: rustix::process::Signal = rustix::process::Signal::VTALARM;

/// The variable in which a supervisor is given the profile of its program. The program does not get it.
#[cfg(unix)]
const PROFILE: &str = "__AGENT_SPACES_PROFILE";

static SUPERVISES: AtomicBool = AtomicBool::new(false);

/// Lets this program supervise the servers that it starts. Must be the first call of `main`, before any thread is
/// started and any argument is looked at: when this process was started as a supervisor, it does not return.
pub fn supervise_if_asked() {
    #[cfg(unix)]
    {
        let mut arguments = std::env::args_os().skip(1);
        if arguments.next().is_some_and(|argument| argument == MARKER) {
            std::process::exit(supervisor::run(arguments));
        }
        SUPERVISES.store(true, Ordering::Relaxed);
    }
}

fn supervises() -> bool {
    SUPERVISES.load(Ordering::Relaxed)
}

#[cfg(unix)]
fn pid(id: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(id).ok()?)
}
