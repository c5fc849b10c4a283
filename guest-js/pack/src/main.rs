//! Packer of the engine: makes the module that is shipped from the linked one.
//!
//! `agent-spaces-pack LINKED.wasm GUEST_DIR QUICKJS_VERSION [TOOL=VERSION …]` takes six steps, one file each:
//! [`internalize`] points the WASI imports at the engine's own answers, [`snapshot`] runs the set-up
//! once and keeps the memory it leaves, [`trim`] drops the exports that only those steps needed, [`merge`]
//! writes that memory in few data segments, [`meter`] adds charges of fuel, [`slots`] puts what bindings call into the
//! table. The result is written to `GUEST_DIR/prebuilt` with a record of its hash, of the tools that made it ([`record`]),
//! and of what is in it ([`sbom`]), which names our [`patches`].
//!
//! With `AGENT_SPACES_UNMETERED=FILE` it also writes the same engine without charges there, which benchmarks of the meter compare
//! with. No host may run it for others: it does not stop.

mod internalize;
mod merge;
mod meter;
mod patches;
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
    let (Some(input), Some(guest), Some(quickjs)) = (next(), next(), next()) else {
        bail!("usage: agent-spaces-pack LINKED.wasm GUEST_DIR QUICKJS_VERSION [TOOL=VERSION …]");
    };
    let quickjs = quickjs.to_string_lossy();
    let tools = arguments.map(|tool| tool.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let (input, guest) = (PathBuf::from(input), PathBuf::from(guest));
    let output = guest.join("prebuilt");
    let lock = |path| std::fs::read_to_string(guest.join(path)).with_context(|| format!("reading {path}"));
    let (lock, published) = (lock("Cargo.lock")?, lock("quickjs/published/Cargo.lock")?);
    let patches = patches::read(&guest.join("patches"))?;

    let linked = std::fs::read(&input).with_context(|| format!("reading {}", input.display()))?;
    let closed = internalize::internalize(&linked).context("answering the WASI imports inside the engine")?;
    let snapshotted = snapshot::snapshot(&closed).await.context("taking the snapshot")?;
    let trimmed = trim::trim(&snapshotted).context("dropping the exports of the set-up")?;
    let merged = merge::merge(&trimmed).context("merging the data segments")?;
    let with_charges = |charges| {
        let metered = meter::add(&merged, charges).context("metering the engine")?;
        slots::add(&metered).context("adding to the table")
    };
    let engine = with_charges(true)?;
    if let Some(path) = std::env::var_os("AGENT_SPACES_UNMETERED") {
        std::fs::write(&path, with_charges(false)?).with_context(|| format!("writing {}", path.display()))?;
    }

    let is_same = record::write(&output, &engine, &quickjs, &patches, &tools)?;
    sbom::write(&output, &[&lock, &published], &quickjs, &patches)?;
    let state = if is_same { "the same as before" } else { "changed" };
    println!("{}: {} bytes, {state}", output.join("engine.wasm").display(), engine.len());
    Ok(())
}
