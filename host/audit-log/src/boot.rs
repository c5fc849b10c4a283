//! Boot id of the machine.

/// Returns the boot id, which changes with every reboot. Without one, every append waits for the disk.
pub(crate) fn id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let id = text.trim();
    let is_plain = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (!id.is_empty() && id.len() <= 64 && is_plain).then(|| id.to_owned())
}
