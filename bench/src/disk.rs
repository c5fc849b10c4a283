//! Disk usage: the command, the engine inside it, and the cache after a run.

use crate::bench::Bench;
use crate::home;
use agent_spaces::ENGINE_WASM;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    bench.report.add("the engine", mib(ENGINE_WASM.len() as u64), "MiB");
    let Some(command) = home::command()? else { return Ok(()) };
    bench.report.add("the command, as built", mib(std::fs::metadata(&command)?.len()), "MiB");
    let folder = tempfile::tempdir()?;
    let stripped = folder.path().join("stripped");
    match Command::new("strip").arg("-o").arg(&stripped).arg(&command).status() {
        Ok(status) if status.success() => {
            bench.report.add("the command, stripped", mib(std::fs::metadata(&stripped)?.len()), "MiB");
        }
        _ => bench.report.note("skipped: the command, stripped: `strip` does not work here"),
    }
    home::first_run(&command, folder.path())?;
    bench.report.add("the cache after a run", mib(bytes_in(&folder.path().join("cache"))?), "MiB");
    Ok(())
}

fn bytes_in(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_in(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
