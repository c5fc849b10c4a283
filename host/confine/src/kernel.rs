//! Detection of what the running kernel can enforce.

use crate::{ConfineError, Network, Profile};
use std::sync::OnceLock;

/// First Landlock ABI that restricts truncation of files: Linux 6.2.
const ABI_FILES: u32 = 3;

/// First Landlock ABI that restricts TCP ports: Linux 6.7.
const ABI_TCP: u32 = 4;

/// First Landlock ABI that restricts `ioctl` on devices: Linux 6.10.
const ABI_DEVICES: u32 = 5;

/// First Landlock ABI that restricts signals and abstract Unix sockets: Linux 6.12.
const ABI_SCOPES: u32 = 6;

/// Sandboxing features of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Landlock ABI version, up to the latest that this program knows.
    pub landlock_abi: Option<u32>,
    /// True if it supports seccomp filters.
    pub seccomp: bool,
}

/// Part of a profile that the kernel does not enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Description of the gap, and the kernel version that would close it.
    pub what: &'static str,
    /// True if a process could use the gap to do what its profile should prevent.
    pub is_essential: bool,
}

impl Kernel {
    /// Returns the features of the running kernel, probed once on a temporary thread.
    pub fn current() -> &'static Kernel {
        static CURRENT: OnceLock<Kernel> = OnceLock::new();
        CURRENT.get_or_init(|| std::thread::spawn(probe).join().unwrap_or_default())
    }

    /// Returns the parts of a profile that the kernel does not enforce.
    pub fn gaps(&self, profile: &Profile) -> Vec<Gap> {
        let essential = |what| Gap { what, is_essential: true };
        let lesser = |what| Gap { what, is_essential: false };
        let abi = self.landlock_abi.unwrap_or(0);
        let mut gaps = Vec::new();
        match abi {
            0 => gaps
                .push(essential("files are not limited (needs Landlock: Linux 6.2, with `landlock` among its LSMs)")),
            abi if abi < ABI_FILES => {
                gaps.push(essential("files can be truncated (needs Landlock ABI 3: Linux 6.2)"));
            }
            _ => {}
        }
        if matches!(profile.network, Network::Ports { .. }) && abi < ABI_TCP {
            gaps.push(essential("TCP ports are not limited (needs Landlock ABI 4: Linux 6.7)"));
        }
        if !self.seccomp {
            gaps.push(essential("system calls are not filtered (needs seccomp on x86-64, AArch64 or RISC-V)"));
        }
        if abi < ABI_DEVICES {
            gaps.push(lesser("ioctl calls on devices are not limited (needs Landlock ABI 5: Linux 6.10)"));
        }
        if abi < ABI_SCOPES {
            gaps.push(lesser("signals to other processes are not limited (needs Landlock ABI 6: Linux 6.12)"));
        }
        gaps
    }

    /// Checks that a profile can be applied.
    ///
    /// # Errors
    ///
    /// If an essential part of it cannot be enforced and it is not [`Profile::best_effort`].
    pub fn check(&self, profile: &Profile) -> Result<(), ConfineError> {
        let essential: Vec<_> =
            self.gaps(profile).into_iter().filter(|gap| gap.is_essential).map(|gap| gap.what).collect();
        match profile.best_effort || essential.is_empty() {
            true => Ok(()),
            false if cfg!(not(target_os = "linux")) => {
                Err(ConfineError::Unavailable("Landlock and seccomp are parts of Linux".to_owned()))
            }
            false => Err(ConfineError::Unavailable(essential.join("; "))),
        }
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
fn probe() -> Kernel {
    Kernel {
        landlock_abi: crate::landlock_rules::probe(),
        seccomp: crate::syscall_filter::restrict(&Profile::default()).is_ok(),
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))))]
fn probe() -> Kernel {
    Kernel::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ports() -> Profile {
        Profile { network: Network::Ports { connect: vec![443], bind: vec![] }, ..Profile::default() }
    }

    fn kernel(abi: u32) -> Kernel {
        Kernel { landlock_abi: Some(abi), seccomp: true }
    }

    #[test]
    fn essential_gaps_are_errors_unless_best_effort() {
        let old = Kernel { landlock_abi: None, seccomp: true };
        let refused = old.check(&Profile::default()).unwrap_err().to_string();
        assert!(refused.starts_with("this system cannot confine a process"), "{refused}");
        assert_eq!(old.check(&Profile { best_effort: true, ..Profile::default() }), Ok(()));
        assert!(kernel(2).check(&Profile::default()).is_err(), "files could be truncated");
        assert_eq!(kernel(3).check(&Profile::default()), Ok(()));
        assert!(kernel(3).check(&with_ports()).is_err(), "TCP would not be limited");
        assert_eq!(kernel(4).check(&with_ports()), Ok(()));
        assert!(Kernel { landlock_abi: Some(7), seccomp: false }.check(&Profile::default()).is_err());
    }

    #[test]
    fn lesser_gaps_are_reported_without_an_error() {
        let told = kernel(4).gaps(&with_ports());
        assert_eq!(told.iter().map(|gap| gap.is_essential).collect::<Vec<_>>(), [false, false]);
        assert_eq!(kernel(6).gaps(&with_ports()), []);
    }
}
