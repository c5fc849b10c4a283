//! What the system says of this process; zero where it does not say.

/// What it holds, with what it shares among its own mappings counted once.
pub(crate) fn resident_bytes() -> u64 {
    kib("/proc/self/smaps_rollup", "Pss:") * 1024
}

/// The most that it ever held.
pub(crate) fn peak_kib() -> u64 {
    kib("/proc/self/status", "VmHWM:")
}

pub(crate) fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").map_or(0, |text| text.lines().count())
}

/// Pages that were not where they were wanted, so far; none of them had to be read from a disk.
pub(crate) fn page_faults() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, can have spaces in it; the eighth field after it counts.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().nth(7).and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn kib(file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
