//! System paths that every program needs.

use std::path::PathBuf;

/// Folders of programs, libraries and data that are installed for all users.
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

/// System settings without secrets: library paths, certificates, name and user lookup.
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

/// Kernel interfaces. The `/proc` folder of a process that starts later cannot be named in a rule, so all of `/proc` is
/// readable. The kernel still hides the variables, memory and open files of processes outside of the profile.
const KERNEL: &[&str] = &["/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"];

/// Devices that store nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Paths that every program may read.
pub(super) fn read() -> Vec<PathBuf> {
    [PROGRAMS, SETTINGS, KERNEL].concat().into_iter().map(PathBuf::from).collect()
}

/// Paths that every program may write.
pub(super) fn write() -> Vec<PathBuf> {
    DEVICES.iter().map(PathBuf::from).collect()
}
