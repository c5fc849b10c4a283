//! The file that was probably meant by a path.

use crate::workspace::Workspace;
use capability_gen::names::nearest;

/// The path that `specifier` is most likely a slip of, where `wanted` is the place in the workspace that it leads to.
pub(super) fn near_file(workspace: &Workspace, wanted: &str, specifier: &str) -> Option<String> {
    let (folder, _) = wanted.rsplit_once('/').unwrap_or((".", wanted));
    let (before, name) = specifier.rsplit_once('/')?;
    let files = workspace.importable(folder);
    let has_extension = name.contains('.');
    // Who writes no extension is not told one.
    let names = files.iter().map(|file| match file.rsplit_once('.') {
        Some((stem, _)) if !has_extension => stem,
        _ => file.as_str(),
    });
    nearest(name, names).map(|near| format!("{before}/{near}"))
}
