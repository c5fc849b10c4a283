//! Descendants of this process, from Linux's `/proc`.

use rustix::process::{Pid, Signal, getpid, kill_process};
use std::collections::BTreeMap;
use std::fs;

/// Signals every descendant of this process.
pub(super) fn signal_all(signal: Signal) {
    let children = children_by_parent();
    let mut parents = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            send(child, signal);
            parents.push(child);
        }
    }
}

/// Kills the children of this process. Their orphans become our children, to be killed in the next round.
///
/// The PID of a child is not reused before we wait for the child, so no other process can be hit.
pub(super) fn kill_children() {
    let own = getpid().as_raw_nonzero().get();
    // Scan all processes only if the kernel has no list of children: a process that keeps forking may escape a scan.
    for child in listed_children().unwrap_or_else(|| children_by_parent().remove(&own).unwrap_or_default()) {
        send(child, Signal::KILL);
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have exited meanwhile.
        let _ = kill_process(pid, signal);
    }
}

/// Returns the children of each of our threads, if the kernel lists them.
fn listed_children() -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        children.extend(list.split_ascii_whitespace().filter_map(|child| child.parse::<i32>().ok()));
    }
    Some(children)
}

fn children_by_parent() -> BTreeMap<i32, Vec<i32>> {
    let mut children = BTreeMap::<i32, Vec<i32>>::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Some(parent) = fs::read(entry.path().join("stat")).ok().and_then(|stat| parent_in(&stat)) else { continue };
        children.entry(parent).or_default().push(pid);
    }
    children
}

/// Parses the parent PID in a line such as `12 (name) S 1 …`. A name may contain anything, even parentheses.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let after_name = stat.iter().rposition(|&byte| byte == b')')?.checked_add(1)?;
    let fields = std::str::from_utf8(stat.get(after_name..)?).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_pid_is_parsed_after_any_process_name() {
        assert_eq!(parent_in(b"12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(b"12 (a) S 9 (\xff) R 7 12"), Some(7));
        assert_eq!(parent_in(b"12 (sh"), None);
        assert_eq!(parent_in(b""), None);
    }

    #[test]
    fn a_child_is_found_below_its_parent() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let number = i32::try_from(child.id()).unwrap();
        let (found, listed) = (children_by_parent()[&own].contains(&number), listed_children());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found);
        assert!(listed.is_none_or(|listed| listed.contains(&number)));
    }
}
