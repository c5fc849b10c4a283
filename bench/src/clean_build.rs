//! Clean build of the command, if requested.

use crate::bench::Bench;
use anyhow::{Result, ensure};
use std::process::Command;
use std::time::Instant;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    if !bench.clean_build {
        return Ok(());
    }
    let target = tempfile::tempdir()?;
    let begun = Instant::now();
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "-p", "agent-spaces-cli", "--target-dir"])
        .arg(target.path())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    ensure!(status.success(), "cargo build failed");
    bench.report.add("the command, built from nothing", begun.elapsed().as_secs_f64(), "s");
    Ok(())
}
