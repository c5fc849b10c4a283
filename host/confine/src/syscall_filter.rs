//! seccomp filter for system calls and socket types.
//!
//! A deny list, because programs are arbitrary: an allow list would have to contain everything that any runtime uses. A
//! denied call fails and does not kill the program.

use crate::denied_syscalls::{ABSENT, DENIED, NAMESPACES, TERMINAL_INPUT};
use crate::{ConfineError, Network, Profile};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Bits of a socket type that are not flags.
const TYPE_MASK: u64 = 0xf;

/// Types of internet sockets that bypass the restriction of TCP ports: raw and packet sockets (3, 10), and transports
/// that Landlock does not know (4, 5, 6).
const OTHER_TYPES: &[u64] = &[3, 4, 5, 6, 10];

/// Confines the calling thread.
pub(crate) fn restrict(profile: &Profile) -> Result<(), ConfineError> {
    let refused = |error: &dyn std::fmt::Display| ConfineError::Refused(format!("seccomp: {error}"));
    let absent = ABSENT.iter().map(|call| (*call, Vec::new())).collect();
    let denied = denied(profile).map_err(|error| refused(&error))?;
    for (rules, errno) in [(absent, libc::ENOSYS), (denied, libc::EPERM)] {
        let program = program(rules, errno).map_err(|error| refused(&error))?;
        apply_filter(&program).map_err(|error| refused(&error))?;
    }
    Ok(())
}

fn program(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let action = SeccompAction::Errno(errno.unsigned_abs());
    let filter: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture)?.try_into()?;
    Ok([other_numbers(), filter].concat())
}

/// Filter for the x32 ABI: on x86-64, every system call has a second number, for programs with short pointers. A deny
/// list would have to contain those too; they are unused, so all are denied. Calls of 32-bit programs kill the program,
/// by the architecture check at the beginning of the filter.
fn other_numbers() -> BpfProgram {
    use seccompiler::sock_filter;
    const LOAD_NUMBER: sock_filter = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    const IS_SECOND: sock_filter = sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 };
    const REFUSE: sock_filter = sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | libc::ENOSYS as u32 };
    match cfg!(target_arch = "x86_64") {
        true => vec![LOAD_NUMBER, IS_SECOND, REFUSE],
        false => Vec::new(),
    }
}

fn denied(profile: &Profile) -> Result<Rules, BackendError> {
    let mut rules: Rules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let namespaces = NAMESPACES.iter().map(|flag| rule(vec![has_bits(0, flag.unsigned_abs().into())?]));
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    let typing = TERMINAL_INPUT.iter().map(|request| rule(vec![is(1, *request)?]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    let mut sockets = vec![families(profile)?];
    if matches!(profile.network, Network::Ports { .. }) {
        sockets.extend(other_transports()?);
        // TCP Fast Open, for which the kernel does not check Landlock.
        let fast = libc::MSG_FASTOPEN.unsigned_abs().into();
        for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            rules.insert(call, vec![rule(vec![has_bits(flags, fast)?])?]);
        }
    }
    rules.insert(libc::SYS_socket, sockets);
    Ok(rules)
}

/// Denies sockets of families that the profile does not allow. Netlink is allowed: programs list their addresses with it.
fn families(profile: &Profile) -> Result<SeccompRule, BackendError> {
    let mut allowed = vec![libc::AF_NETLINK];
    if profile.network != Network::None {
        allowed.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if profile.unix_sockets {
        allowed.push(libc::AF_UNIX);
    }
    rule(allowed.iter().map(|family| is_not(0, family.unsigned_abs().into())).collect::<Result<_, _>>()?)
}

/// Denies internet sockets other than TCP and UDP.
fn other_transports() -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let family = || is(0, family.unsigned_abs().into());
        let of_type = |kind: u64| condition(1, SeccompCmpOp::MaskedEq(TYPE_MASK), kind);
        for kind in OTHER_TYPES {
            rules.push(rule(vec![family()?, of_type(*kind)?])?);
        }
        // Stream sockets of other protocols, such as MPTCP and SCTP.
        let tcp = libc::IPPROTO_TCP.unsigned_abs().into();
        rules.push(rule(vec![
            family()?,
            of_type(libc::SOCK_STREAM.unsigned_abs().into())?,
            is_not(2, 0)?,
            is_not(2, tcp)?,
        ])?);
    }
    Ok(rules)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions)
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::Ne, value)
}

fn has_bits(argument: u8, bits: u64) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::MaskedEq(bits), bits)
}

/// Compares 32 bits: the kernel ignores the upper half of all these arguments.
fn condition(argument: u8, comparison: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)
}
