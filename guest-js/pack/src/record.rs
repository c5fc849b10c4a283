//! Writes the engine with its hash and how it was made.

use crate::patches::Patch;
use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Writes `engine.wasm`, `engine.sha256`, `engine.version` and `engine.json`. Says whether the engine is what was there before.
pub(crate) fn write(
    directory: &Path,
    engine: &[u8],
    quickjs: &str,
    patches: &[Patch],
    tools: &[String],
) -> Result<bool> {
    std::fs::create_dir_all(directory)?;
    let path = directory.join("engine.wasm");
    let is_same = std::fs::read(&path).is_ok_and(|before| before == engine);
    std::fs::write(&path, engine).with_context(|| format!("writing {}", path.display()))?;
    let tools: Map<String, Value> = tools
        .iter()
        .filter_map(|tool| tool.split_once('='))
        .map(|(name, version)| (name.to_owned(), version.into()))
        .collect();
    let hash = format!("{:x}", Sha256::digest(engine));
    std::fs::write(directory.join("engine.sha256"), format!("{hash}\n"))?;
    std::fs::write(directory.join("engine.version"), format!("{quickjs}\n"))?;
    let bytes = engine.len();
    let patches: Map<String, Value> =
        patches.iter().map(|patch| (patch.name.clone(), patch.sha256.as_str().into())).collect();
    let record = json!({
        "file": "engine.wasm", "bytes": bytes, "sha256": hash, "quickjs-ng": quickjs, "patches": patches, "tools": tools,
    });
    let path = directory.join("engine.json");
    std::fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&record)?))
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(is_same)
}
