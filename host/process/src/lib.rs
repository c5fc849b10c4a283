//! Child processes in process groups of their own that never outlive this process.
//!
//! A program that calls [`supervise_if_asked`] first in its `main` starts each server under a supervisor: its own
//! executable, run again. The supervisor ends the server and all its descendants when it gets a signal or when its
//! parent has ended in any way. On Linux it also finds descendants that left the server's process group or session.
//!
//! Only a `kill -9` of the supervisor itself defeats this.
//!
//! Without that call a server is started directly, in a process group of its own. It is closed in the same steps, but
//! descendants that left its group are not found, and after a `kill -9` of this process it runs until it reads the end
//! of its stdin.
//!
//! A server with a profile is confined by its supervisor, which is not confined itself, so the server cannot signal it.
//! Without a supervisor such a server is not started.
//!
//! Confinement itself is in `agent-spaces-confine`, MCP over a child's pipes in `agent-spaces-mcp`.
//!
//! # Layout
//! - `spec`: a program to start; `lookup`: check that it can be started; `child`: its process, and how it is ended
//! - [`environment`]: environment variables of a child; `network`: proxy and certificate variables, which are not
//!   inherited
//! - `supervisor`: the process that ends a child with its descendants; `profile`: passes the child's profile to it
//! - `parent`: detection that the parent has ended; `descendants`: all descendants of a process, on Linux

mod child;
#[cfg(target_os = "linux")]
mod descendants;
pub mod environment;
#[cfg(unix)]
mod lookup;
mod network;
#[cfg(unix)]
mod parent;
#[cfg(unix)]
mod profile;
mod spec;
#[cfg(unix)]
mod supervisor;

pub use child::{Child, GRACE};
pub use network::{network_variables, withheld_variables};
pub use spec::{ProcessSpec, StartError};

use std::sync::atomic::{AtomicBool, Ordering};

/// First argument of a supervisor.
#[cfg(unix)]
const MARKER: &str = "__agent-spaces-supervise";

/// Signal by which a supervisor ends if it could not start its program. The end of a program is always passed on as an
/// exit status, so the two cannot be confused, and nobody else sends this signal.
#[cfg(unix)]
const CANNOT_START: rustix::process::Signal = rustix::process::Signal::VTALARM;

/// Environment variable with the profile of the program, for the supervisor only.
#[cfg(unix)]
const PROFILE: &str = "__AGENT_SPACES_PROFILE";

static SUPERVISES: AtomicBool = AtomicBool::new(false);

/// Enables supervision of the servers that this program starts. Must be the first call of `main`, before any thread is
/// started and any argument is parsed: if this process was started as a supervisor, it does not return.
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
