//! Our changes to the engine's C, as the build applies them.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::path::Path;

/// One file of `guest-js/patches`.
pub(crate) struct Patch {
    /// Its name, without `.patch`.
    pub(crate) name: String,
    pub(crate) sha256: String,
}

/// The patches of a folder, in the order in which they are applied. None where there is no folder.
pub(crate) fn read(directory: &Path) -> Result<Vec<Patch>> {
    let mut patches = Vec::new();
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(patches),
        entries => entries.with_context(|| format!("reading {}", directory.display()))?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "patch") {
            continue;
        }
        let text = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        patches.push(Patch { name, sha256: format!("{:x}", Sha256::digest(text)) });
    }
    patches.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(patches)
}
