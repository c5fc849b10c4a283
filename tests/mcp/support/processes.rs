//! Lookup of processes by environment or arguments.

use std::process::Command;
use std::time::{Duration, Instant};

/// Lists the processes of the project with this marker and folder: PID and arguments.
pub(super) fn of_project(marker: &str, folder: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let read = |name: &str| {
            String::from_utf8_lossy(&std::fs::read(entry.path().join(name)).unwrap_or_default()).into_owned()
        };
        let arguments = read("cmdline").replace('\0', " ");
        // A browser overwrites its environment, but its arguments name the project's folder.
        if read("environ").contains(marker) || arguments.contains(folder) {
            found.push((pid, arguments));
        }
    }
    found
}

/// Sends a signal to one process.
pub(crate) fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args(["-s", name, &pid.to_string()]).status();
}

/// Polls until the condition is true; returns false after the time limit.
pub(crate) fn eventually(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
