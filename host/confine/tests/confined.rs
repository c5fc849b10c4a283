//! Tests of profiles on the running kernel. Each denied operation is also shown to succeed without a profile, or with one
//! that allows it.
//!
//! Tests that the kernel cannot enforce are reported and skipped; with `AGENT_SPACES_CI=1` they fail.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
#![allow(clippy::unwrap_used, clippy::panic)]

use agent_spaces_confine::{ConfineError, Kernel, Network, Profile, confined};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the profile that any program needs to start.
fn system() -> Profile {
    let read = ["/usr", "/bin", "/lib", "/lib64", "/proc"].map(PathBuf::from).to_vec();
    Profile { read, write: vec!["/dev/null".into()], ..Profile::default() }
}

fn has(abi: u32, what: &str) -> bool {
    let has = Kernel::current().landlock_abi.is_some_and(|known| known >= abi) && Kernel::current().seccomp;
    if !has {
        let text = format!("skipped: this kernel does not limit {what}");
        assert!(std::env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "{text}");
        // Bypasses the capture of the test harness.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
    has
}

fn in_profile<T: Send>(profile: &Profile, work: impl FnOnce() -> T + Send) -> T {
    confined(profile, work).unwrap()
}

fn refused<T>(result: std::io::Result<T>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

#[test]
fn files_outside_of_a_profile_are_neither_read_nor_changed() {
    if !has(3, "files") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["readable", "writable", "secret"] {
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join("file"), "text").unwrap();
    }
    std::os::unix::fs::symlink(path("secret/file"), path("readable/link")).unwrap();
    let profile = Profile { read: vec![path("readable")], write: vec![path("writable")], ..Profile::default() };
    in_profile(&profile, || {
        assert_eq!(fs::read_to_string(path("readable/file")).unwrap(), "text");
        assert!(refused(fs::write(path("readable/file"), "x")), "what may be read was written");
        assert!(refused(fs::remove_file(path("readable/file"))));
        fs::write(path("writable/new"), "text").unwrap();
        fs::rename(path("writable/new"), path("writable/renamed")).unwrap();
        fs::remove_file(path("writable/renamed")).unwrap();
        assert!(refused(fs::read(path("secret/file"))));
        assert!(refused(fs::read(path("readable/link"))), "a link led outside");
        assert!(refused(fs::read_dir(path("secret"))));
        assert!(refused(fs::write(path("secret/file"), "x")));
        assert!(refused(fs::write(path("secret/new"), "x")));
        assert!(fs::hard_link(path("secret/file"), path("writable/linked")).is_err(), "a link brought a file inside");
        let into = fs::rename(path("writable"), path("secret/moved"));
        assert!(into.is_err(), "a folder was moved outside");
    });
    // The calling thread is not confined.
    assert_eq!(fs::read_to_string(path("secret/file")).unwrap(), "text");
    fs::write(path("secret/file"), "changed").unwrap();
}

#[test]
fn what_a_confined_thread_starts_is_confined_too() {
    if !has(3, "files") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "text").unwrap();
    let read = || Command::new("sh").args(["-c", "sh -c 'cat \"$0\"' \"$0\""]).arg(&secret).output().unwrap();
    let output = in_profile(&system(), read);
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("Permission denied"), "{output:?}");
    assert_eq!(read().stdout, b"text");
    let outside = Profile { read: Vec::new(), ..system() };
    let not_started = in_profile(&outside, || Command::new("/bin/sh").args(["-c", ":"]).status());
    assert!(refused(not_started), "a program outside of the profile was started");
}

#[test]
fn the_environment_of_other_processes_cannot_be_read() {
    // Linux lets processes with CAP_PERFMON, such as root's, read it without a Landlock check.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root || !has(3, "files") {
        return;
    }
    // `/proc` as a whole must be readable: no rule can name the folder of a process that is started later.
    let own = format!("/proc/{}/environ", std::process::id());
    let cat = || Command::new("cat").arg(&own).output().unwrap();
    let output = in_profile(&system(), cat);
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(cat().status.success());
}

#[test]
fn tcp_is_limited_to_the_ports_of_a_profile() {
    if !has(4, "TCP ports") {
        return;
    }
    let listeners = [TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap()];
    let [open, shut] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
    let connect = vec![open.port()];
    let profile = Profile { network: Network::Ports { connect, bind: vec![] }, ..Profile::default() };
    in_profile(&profile, || {
        assert!(TcpStream::connect(open).is_ok());
        assert!(refused(TcpStream::connect(shut)));
        assert!(refused(TcpListener::bind("127.0.0.1:0")));
        assert_eq!(errno(libc::SYS_socket, [libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP]), libc::EPERM);
        let multipath = [libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 262];
        assert_eq!(errno(libc::SYS_socket, multipath), libc::EPERM);
        assert!(UdpSocket::bind("127.0.0.1:0").is_ok(), "names are looked up by datagrams");
    });
    let profile = Profile { network: Network::Ports { connect: vec![], bind: vec![0] }, ..Profile::default() };
    in_profile(&profile, || assert!(TcpListener::bind("127.0.0.1:0").is_ok()));
    assert!(TcpStream::connect(shut).is_ok());
}

#[test]
fn without_network_no_socket_can_be_opened() {
    if !Kernel::current().seccomp {
        return assert!(!has(1, "system calls"));
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let best_effort = true;
    in_profile(&Profile { best_effort, ..Profile::default() }, || {
        assert!(refused(TcpStream::connect(address)));
        assert!(refused(UdpSocket::bind("127.0.0.1:0")));
        assert!(refused(UdpSocket::bind("[::1]:0")));
        assert!(refused(UnixDatagram::unbound()));
        assert!(UnixStream::pair().is_ok(), "processes talk to their children by these");
        assert_eq!(errno(libc::SYS_socket, [libc::AF_VSOCK, libc::SOCK_STREAM, 0]), libc::EPERM);
    });
    in_profile(&Profile { network: Network::All, unix_sockets: true, best_effort, ..Profile::default() }, || {
        assert!(TcpStream::connect(address).is_ok());
        assert!(UdpSocket::bind("127.0.0.1:0").is_ok());
        assert!(UnixDatagram::unbound().is_ok());
        assert_eq!(errno(libc::SYS_socket, [libc::AF_VSOCK, libc::SOCK_STREAM, 0]), libc::EPERM);
    });
}

#[test]
fn system_calls_that_reach_other_processes_or_the_kernel_are_refused() {
    if !Kernel::current().seccomp {
        return assert!(!has(1, "system calls"));
    }
    // With these arguments each is harmless, even if allowed.
    let calls = [
        ("personality", libc::SYS_personality, [-1, 0, 0], libc::EPERM),
        ("unshare", libc::SYS_unshare, [0, 0, 0], libc::EPERM),
        ("ptrace", libc::SYS_ptrace, [-1, 0, 0], libc::EPERM),
        ("process_vm_readv", libc::SYS_process_vm_readv, [-1, 0, 0], libc::EPERM),
        ("keyctl", libc::SYS_keyctl, [-1, 0, 0], libc::EPERM),
        ("bpf", libc::SYS_bpf, [-1, 0, 0], libc::EPERM),
        ("io_uring_setup", libc::SYS_io_uring_setup, [0, 0, 0], libc::ENOSYS),
        ("clone3", libc::SYS_clone3, [0, 0, 0], libc::ENOSYS),
        ("clone", libc::SYS_clone, [libc::CLONE_NEWUSER | libc::CLONE_FS, 0, 0], libc::EPERM),
    ];
    let unlimited = calls.map(|(_, call, arguments, _)| errno(call, arguments));
    let profile = Profile { network: Network::All, unix_sockets: true, best_effort: true, ..Profile::default() };
    in_profile(&profile, || {
        for (name, call, arguments, expected) in calls {
            assert_eq!(errno(call, arguments), expected, "{name}");
        }
        // Threads and processes can still be started.
        std::thread::spawn(|| ()).join().unwrap();
    });
    let changed = calls.iter().zip(unlimited).filter(|((.., expected), before)| before != expected);
    assert!(changed.count() >= 4, "without a profile they fail in the same way: {unlimited:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn x32_system_calls_are_denied_too() {
    if !Kernel::current().seccomp {
        return assert!(!has(1, "system calls"));
    }
    let profile = Profile { best_effort: true, ..Profile::default() };
    in_profile(&profile, || {
        assert_eq!(errno(libc::SYS_getpid | 0x4000_0000, [0; 3]), libc::ENOSYS);
        assert_eq!(errno(libc::SYS_getpid, [0; 3]), 0);
    });
}

#[test]
fn signals_do_not_leave_a_profile() {
    if !has(6, "signals") {
        return;
    }
    let mut outside = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = outside.id().to_string();
    let kill = || Command::new("sh").args(["-c", "kill -s CONT \"$0\"", &pid]).output().unwrap();
    let output = in_profile(&system(), kill);
    let unlimited = kill();
    outside.kill().unwrap();
    outside.wait().unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert!(unlimited.status.success(), "{unlimited:?}");
}

#[test]
fn a_profile_can_only_become_narrower() {
    if !has(3, "files") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    let all = Profile { read: vec![PathBuf::from("/")], network: Network::All, ..Profile::default() };
    let read = |path: &Path| fs::read(path.join("file"));
    let outcome: Result<_, ConfineError> = in_profile(&Profile::default(), || confined(&all, || read(folder.path())));
    assert!(refused(outcome.unwrap()));
    assert_eq!(in_profile(&all, || read(folder.path())).unwrap(), b"text");
}

/// Returns the errno of a system call, or 0.
#[allow(unsafe_code)]
fn errno(call: libc::c_long, [first, second, third]: [libc::c_int; 3]) -> libc::c_int {
    let extend = libc::c_long::from;
    // SAFETY: the calls of these tests take no addresses, or get none that can be used.
    let result = unsafe { libc::syscall(call, extend(first), extend(second), extend(third), 0_i64, 0_i64, 0_i64) };
    if result >= 0 { 0 } else { std::io::Error::last_os_error().raw_os_error().unwrap_or(-1) }
}
