//! Turns the linked engine into the module that the host ships.
//!
//! `agent-spaces-pack LINKED.wasm CARGO_LOCK PREBUILT_DIR QUICKJS_VERSION [TOOL=VERSION …]` takes five steps, one file each:
//! [`internalize`] points the WASI imports at the engine's own answers, [`snapshot`] runs the set-up
//! once and keeps the memory it leaves, [`trim`] drops the exports that only those steps needed, [`merge`]
//! writes that memory down in few pieces, [`slots`] puts what bindings call into the table. The result is written with a record of its hash, of the tools that
//! made it ([`record`]), and of what is in it ([`sbom`]).

mod internalize;
mod merge;
mod record;
mod sbom;
mod slots;
mod snapshot;
mod trim;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let mut next = || arguments.next();
    let (Some(input), Some(lock), Some(output), Some(quickjs)) = (next(), next(), next(), next()) else {
        bail!("usage: agent-spaces-pack LINKED.wasm CARGO_LOCK PREBUILT_DIR QUICKJS_VERSION [TOOL=VERSION …]");
    };
    let quickjs = quickjs.to_string_lossy();
    let lock = std::fs::read_to_string(lock).context("reading the lock file")?;
    let tools = arguments.map(|tool| tool.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let (input, output) = (PathBuf::from(input), PathBuf::from(output));

    let linked = std::fs::read(&input).with_context(|| format!("reading {}", input.display()))?;
    let closed = internalize::internalize(&linked).context("answering the WASI imports inside the engine")?;
    let snapshotted = snapshot::snapshot(&closed).await.context("taking the snapshot")?;
    let trimmed = trim::trim(&snapshotted).context("dropping the exports of the set-up")?;
    let merged = merge::merge(&trimmed).context("merging the data segments")?;
    let engine = slots::add(&merged).context("adding to the table")?;

    let is_same = record::write(&output, &engine, &quickjs, &tools)?;
    sbom::write(&output, &lock, &quickjs)?;
    let state = if is_same { "the same as before" } else { "changed" };
    println!("{}: {} bytes, {state}", output.join("engine.wasm").display(), engine.len());
    Ok(())
}
