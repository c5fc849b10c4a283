//! Paths between files of one folder, with `/` on every system.

/// The path that a specifier such as `./types` means in a file, both from the folder; nothing where it leads out of it.
///
/// ```
/// use capability_gen::paths::join;
///
/// assert_eq!(join("tools/crm.ts", "../types").as_deref(), Some("types"));
/// assert_eq!(join("crm.ts", "../types"), None);
/// ```
pub fn join(file: &str, specifier: &str) -> Option<String> {
    let mut segments: Vec<&str> = file.split('/').collect();
    segments.pop();
    for segment in specifier.split('/') {
        match segment {
            "." | "" => {}
            ".." => {
                segments.pop()?;
            }
            name => segments.push(name),
        }
    }
    Some(segments.join("/"))
}
