//! What the running kernel can enforce.

use crate::{ConfineError, Network, Profile};
use std::sync::OnceLock;

/// The first version of Landlock that keeps files outside of a profile from being truncated: Linux 6.2.
const ABI_FILES: u32 = 3;

/// The first that limits TCP ports: Linux 6.7.
const ABI_TCP: u32 = 4;

/// The first that limits requests to devices: Linux 6.10.
const ABI_DEVICES: u32 = 5;

/// The first that limits signals and abstract Unix sockets: Linux 6.12.
const ABI_SCOPES: u32 = 6;

/// What the running kernel can enforce.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The version of Landlock that it has, as far as this program knows it.
    pub landlock_abi: Option<u32>,
    /// Whether it filters system calls.
    pub seccomp: bool,
}

/// Something that a profile asks for and that the kernel does not enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What is not limited, and what would limit it.
    pub what: &'static str,
    /// Whether a process that is not limited here can do what its profile is there to prevent.
    pub is_essential: bool,
}

impl Kernel {
    /// The kernel that runs, found out once by trying on a thread that ends with that.
    pub fn current() -> &'static Kernel {
        static CURRENT: OnceLock<Kernel> = OnceLock::new();
        CURRENT.get_or_init(|| std::thread::spawn(probe).join().unwrap_or_default())
    }

    /// What of a profile it does not enforce.
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
            gaps.push(lesser("requests to open devices are not limited (needs Landlock ABI 5: Linux 6.10)"));
        }
        if abi < ABI_SCOPES {
            gaps.push(lesser("signals to other processes are not limited (needs Landlock ABI 6: Linux 6.12)"));
        }
        gaps
    }

    /// Whether a profile can be applied.
    ///
    /// # Errors
    ///
    /// If an essential part of it cannot be enforced, and it does not settle for less.
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
    fn what_the_kernel_cannot_enforce_is_an_error_unless_less_is_enough() {
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
    fn lesser_gaps_are_told_and_do_not_refuse() {
        let told = kernel(4).gaps(&with_ports());
        assert_eq!(told.iter().map(|gap| gap.is_essential).collect::<Vec<_>>(), [false, false]);
        assert_eq!(kernel(6).gaps(&with_ports()), []);
    }
}
