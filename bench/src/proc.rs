//! Process statistics from `/proc`, zero if unavailable, and the number of cores.

/// Returns the hardware parallelism.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Proportional set size, in bytes.
pub(crate) fn resident_bytes() -> u64 {
    kib("/proc/self/smaps_rollup", "Pss:") * 1024
}

/// Peak resident memory.
pub(crate) fn peak_kib() -> u64 {
    kib("/proc/self/status", "VmHWM:")
}

pub(crate) fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").map_or(0, |text| text.lines().count())
}

/// Minor page faults so far.
pub(crate) fn page_faults() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name, in parentheses, may contain spaces; the eighth field after it is the count.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().nth(7).and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn kib(file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
