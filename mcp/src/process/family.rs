//! The processes below this one, as Linux tells them.

use rustix::process::{Pid, Signal, getpid, kill_process};
use std::collections::BTreeMap;
use std::fs;

/// Signals every process below this one.
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

/// Kills the children of this process. What they leave behind becomes ours; it is for the next round.
///
/// The number of a child cannot come to mean another process before the child is waited for, so this hits no other.
pub(super) fn kill_children() {
    let own = getpid().as_raw_nonzero().get();
    // The long way only where the kernel has no list: a process may be on the run from one number to the next.
    for child in listed_children().unwrap_or_else(|| children_by_parent().remove(&own).unwrap_or_default()) {
        send(child, Signal::KILL);
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

/// The children of each of our threads, if the kernel lists them.
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

/// The parent in a line such as `12 (name) S 1 …`. A name may hold anything, parentheses too.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let after_name = stat.iter().rposition(|&byte| byte == b')')?.checked_add(1)?;
    let fields = std::str::from_utf8(stat.get(after_name..)?).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_read_behind_any_name() {
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
