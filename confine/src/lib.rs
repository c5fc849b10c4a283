//! What a process may still reach, enforced by the Linux kernel: Landlock limits files, TCP ports and signals, seccomp
//! limits system calls.
//!
//! Both hold for the thread that asks for them and for everything that it starts from then on, and nothing undoes them.
//! So a program is confined by the thread that starts it: [`confined`] makes such a thread. The rest of the process stays
//! as it is, and no code runs between `fork` and `exec`.
//!
//! # Layout
//! - `profile`: [`Profile`], what may be reached.
//! - `kernel`: [`Kernel`], what the running kernel can enforce, and what of a profile it cannot.
//! - `landlock_rules`: files, TCP ports, signals.
//! - `syscall_filter`, `denied_syscalls`: system calls and kinds of sockets.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod denied_syscalls;
mod kernel;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod landlock_rules;
mod profile;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod syscall_filter;

pub use kernel::{Gap, Kernel};
pub use profile::{Network, Profile};

use std::thread;

/// Why a process was not confined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfineError {
    /// The kernel cannot enforce what the profile needs, and the profile does not settle for less.
    #[error("this system cannot confine a process: {0}")]
    Unavailable(String),
    /// The kernel can, and refused.
    #[error("the kernel refused to confine the process: {0}")]
    Refused(String),
}

/// What was enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The version of Landlock that is enforced, if any is.
    pub landlock_abi: Option<u32>,
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// What of the profile is not enforced.
    pub gaps: Vec<Gap>,
}

/// Confines the calling thread, and everything that it starts from now on. Other threads of the process are not confined.
///
/// # Errors
///
/// If an essential part of the profile cannot be enforced and it is not [`Profile::best_effort`]. The thread may be
/// confined in part then: end it.
pub fn apply(profile: &Profile) -> Result<Applied, ConfineError> {
    let kernel = Kernel::current();
    kernel.check(profile)?;
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
    {
        if kernel.landlock_abi.is_some() {
            landlock_rules::restrict(profile)?;
        }
        if kernel.seccomp {
            syscall_filter::restrict(profile)?;
        }
    }
    Ok(Applied { landlock_abi: kernel.landlock_abi, seccomp: kernel.seccomp, gaps: kernel.gaps(profile) })
}

/// Does something on a thread of its own that is confined first. What the work starts stays confined; this thread does
/// not become so.
///
/// # Errors
///
/// As [`apply`]. The work was not begun then.
pub fn confined<T: Send>(profile: &Profile, work: impl FnOnce() -> T + Send) -> Result<T, ConfineError> {
    let refused = |why: &str| ConfineError::Refused(why.to_owned());
    thread::scope(|scope| {
        let confined = move || apply(profile).map(|_| work());
        let thread = thread::Builder::new().name("confined".to_owned()).spawn_scoped(scope, confined);
        let thread = thread.map_err(|error| ConfineError::Refused(error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(refused("its thread panicked")))
    })
}
