//! What every program needs of the machine.

use std::path::PathBuf;

/// Where programs, their libraries and their data are installed for all users.
const PROGRAMS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/snap",
    "/gnu/store",
    "/nix/store",
    "/run/current-system",
    "/home/linuxbrew/.linuxbrew",
];

/// Settings of the machine that hold no secrets: how to load libraries, whom to trust, how names and users are looked up.
const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/static",
    "/etc/timezone",
    "/run/systemd/resolve",
];

/// What the kernel tells. A process that is started later has a folder in `/proc` that no rule can name, so all of it can
/// be read; of processes outside of the profile, the kernel keeps variables, memory and open files back all the same.
const KERNEL: &[&str] = &["/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"];

/// Devices that hold nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What every program reads.
pub(super) fn read() -> Vec<PathBuf> {
    [PROGRAMS, SETTINGS, KERNEL].concat().into_iter().map(PathBuf::from).collect()
}

/// What every program writes.
pub(super) fn write() -> Vec<PathBuf> {
    DEVICES.iter().map(PathBuf::from).collect()
}
