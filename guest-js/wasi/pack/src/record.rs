//! Writes the components with their hashes and how they were made.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Writes each component under its file name, and `wasi.json`. Says of each whether it is what was there before.
pub(crate) fn write(directory: &Path, components: &[(String, Vec<u8>)], tools: &[String]) -> Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    let mut records = Vec::new();
    for (file, component) in components {
        let path = directory.join(file);
        let is_same = std::fs::read(&path).is_ok_and(|before| before == *component);
        std::fs::write(&path, component).with_context(|| format!("writing {}", path.display()))?;
        let hash = format!("{:x}", Sha256::digest(component));
        records.push(json!({ "file": file, "bytes": component.len(), "sha256": hash }));
        let state = if is_same { "the same as before" } else { "changed" };
        println!("{}: {} bytes, {state}", path.display(), component.len());
    }
    let tools: Map<String, Value> = tools
        .iter()
        .filter_map(|tool| tool.split_once('='))
        .map(|(name, version)| (name.to_owned(), version.into()))
        .collect();
    let record = json!({ "components": records, "tools": tools });
    let path = directory.join("wasi.json");
    std::fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&record)?))
        .with_context(|| format!("writing {}", path.display()))
}
