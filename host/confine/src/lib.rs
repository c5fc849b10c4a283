//! Process sandboxing with the Linux kernel: Landlock restricts files, TCP ports and signals, seccomp restricts system
//! calls.
//!
//! Both apply to the calling thread and to everything it starts from then on, and cannot be undone. So a program is
//! confined by the thread that starts it: [`confined`] runs such a thread. The rest of the process is not affected, and
//! no code runs between `fork` and `exec`.
//!
//! # Layout
//! - `profile`: [`Profile`], the allowed files, network and sockets.
//! - `kernel`: [`Kernel`], detection of what the running kernel can enforce, and of gaps in a profile.
//! - `landlock_rules`: files, TCP ports, signals.
//! - `syscall_filter`, `denied_syscalls`: system calls and socket types.

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

/// Error of confining a process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfineError {
    /// The kernel cannot enforce the profile, and the profile is not best-effort.
    #[error("this system cannot confine a process: {0}")]
    Unavailable(String),
    /// The kernel supports the profile, but refused it.
    #[error("the kernel refused to confine the process: {0}")]
    Refused(String),
}

/// Restrictions that were applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Landlock ABI that is enforced, if any.
    pub landlock_abi: Option<u32>,
    /// True if system calls are filtered.
    pub seccomp: bool,
    /// Parts of the profile that are not enforced.
    pub gaps: Vec<Gap>,
}

/// Confines the calling thread and everything it starts from now on. Other threads of the process are not confined.
///
/// # Errors
///
/// If an essential part of the profile cannot be enforced and it is not [`Profile::best_effort`]. The thread may be
/// partly confined then: end it.
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

/// Runs `work` on a new, confined thread. Everything it starts stays confined; the calling thread is not confined.
///
/// # Errors
///
/// As [`apply`]. `work` was not run then.
pub fn confined<T: Send>(profile: &Profile, work: impl FnOnce() -> T + Send) -> Result<T, ConfineError> {
    let refused = |why: &str| ConfineError::Refused(why.to_owned());
    thread::scope(|scope| {
        let confined = move || apply(profile).map(|_| work());
        let thread = thread::Builder::new().name("confined".to_owned()).spawn_scoped(scope, confined);
        let thread = thread.map_err(|error| ConfineError::Refused(error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(refused("its thread panicked")))
    })
}
