//! Memory, page faults and instructions of a process that only makes fresh runs of `1 + 1`.

use crate::bench::Bench;
use crate::{proc, spaces};
use agent_spaces::{Cache, EngineConfig, RunOptions};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// Runs this program as that process: `--runs-alone COUNT FOLDER`, with compiled code in the folder.
pub(crate) const ALONE: &str = "--runs-alone";

const RUNS: usize = 5_000;
/// Runs before counting starts.
const WARM_UP: usize = 500;

#[derive(Serialize, Deserialize)]
struct Counted {
    peak_kib: u64,
    mappings: usize,
    page_faults: u64,
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let runs = bench.pace.rounds(RUNS);
    // The first run compiles the engine, which takes extra memory.
    started(&mut command(1, folder.path())?)?;
    let counted: Counted = serde_json::from_str(&started(&mut command(runs, folder.path())?)?)?;
    bench.report.add("peak resident memory of a process with runs", counted.peak_kib as f64 / 1024.0, "MiB");
    bench.report.add("mappings of that process", counted.mappings as f64, "mappings");
    bench.report.add("page faults of a fresh run", counted.page_faults as f64 / runs as f64, "faults");
    match instructions(folder.path(), runs) {
        Ok(each) => drop(bench.report.add("instructions of a fresh run", each, "instructions")),
        Err(error) => bench.report.note(format!("skipped: instructions of a fresh run: {error:#}")),
    }
    Ok(())
}

pub(crate) fn serve(arguments: &[String]) -> Result<()> {
    let [count, folder] = arguments else { anyhow::bail!("{ALONE} needs a number of runs and a folder") };
    let (count, folder): (usize, &Path) = (count.parse()?, folder.as_ref());
    let cache = Cache::open(&folder.join("code"), &folder.join("key/key"))?;
    let engine = spaces::engine_with(EngineConfig::default().with_cache(cache))?;
    let program = spaces::empty(&engine)?.prepare("bench.js", "1 + 1")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let runs = |count| {
        runtime.block_on(async {
            for _ in 0..count {
                program.run(RunOptions::default()).await.outcome?;
            }
            anyhow::Ok(())
        })
    };
    runs(WARM_UP)?;
    let before = proc::page_faults();
    runs(count)?;
    let page_faults = proc::page_faults() - before;
    let counted = Counted { peak_kib: proc::peak_kib(), mappings: proc::mappings(), page_faults };
    println!("{}", serde_json::to_string(&counted)?);
    Ok(())
}

fn command(runs: usize, folder: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(ALONE).arg(runs.to_string()).arg(folder);
    Ok(command)
}

fn started(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Instructions per run, from the difference to twice as many runs, if `perf` is available.
fn instructions(folder: &Path, runs: usize) -> Result<f64> {
    let counted = |runs| -> Result<f64> {
        let alone = command(runs, folder)?;
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x,", "-e", "instructions:u", "--"]).arg(alone.get_program()).args(alone.get_args());
        let output = perf.output().context("there is no `perf`")?;
        ensure!(output.status.success(), "`perf stat` failed");
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| line.contains("instructions")).context("`perf stat` counts nothing")?;
        let count = line.split(',').next().unwrap_or_default();
        count.parse().ok().with_context(|| format!("`perf stat -e instructions` says {count}"))
    };
    Ok((counted(2 * runs)? - counted(runs)?) / runs as f64)
}
