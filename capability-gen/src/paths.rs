//! Relative paths between files of one folder, with `/` on every system.

/// Resolves a specifier such as `./types` against the file that contains it, both relative to the folder. Returns
/// `None` if the path leaves the folder.
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
