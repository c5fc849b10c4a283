//! Cost of a call to a sandboxed handler, compared with a native one.

use crate::bench::{Bench, Pace};
use crate::spaces;
use crate::timing::times_in_task;
use agent_spaces::project::{Outlines, SpaceModules, definitions_at};
use agent_spaces::{Engine, Program, RunOptions, Space};
use anyhow::Result;
use std::path::Path;
use std::time::Instant;

/// Calls per run, enough to make the cost of the run itself negligible.
const CALLS: usize = 100;
/// Calls per run if each takes long by itself.
const LONG_CALLS: usize = 10;
const ROUNDS: usize = 30;

const DEFINITION: &str = r#"{ "name": "desk", "functions": [{
    "name": "note", "description": "Notes",
    "parameters": { "text": { "type": "string", "required": true } }, "returns": "string"
}] }"#;

const HANDLER: &str = "export const note = ({ text }) => text;";

/// A module that takes a while to be evaluated, as libraries do.
const LIBRARY: &str = "const table = new Map();
for (let i = 0; i < 20_000; i++) table.set(`key ${i}`, { i, list: [i, i + 1] });
export const note = ({ text }) => `${text} ${table.size}`;";

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let engine = spaces::engine()?;
    let small = written(HANDLER)?;
    let (first, begun) = first_call(small.path(), &engine).await?;
    bench.report.add("first call of a handler, made ready and kept", first, "ms");
    let pace = bench.pace;
    let handler = per_call(pace, CALLS, |calls| prepare(&begun, calls)).await?;
    let trains = spaces::trains(&engine)?;
    let native = |calls| {
        let script = format!(
            "import {{ trains }} from '@capabilities/trains'; for (let i = 0; i < {calls}; i++) await trains.get({{ count: 1 }});"
        );
        Ok(trains.prepare("bench.js", &script)?)
    };
    let native = per_call(pace, CALLS, native).await?;
    bench
        .report
        .add("call of a handler in a sandbox of its own, p50", handler, "µs")
        .against("a call that Rust answers", native);

    let large = written(LIBRARY)?;
    let (first, begun) = first_call(large.path(), &engine).await?;
    bench.report.add("first call of a handler whose module takes long", first, "ms");
    let kept = per_call(pace, LONG_CALLS, |calls| prepare(&begun, calls)).await?;
    // A module that reads the clock while it is evaluated cannot be snapshotted.
    let changing = written(&format!("Date.now();\n{LIBRARY}"))?;
    let (_, begun) = first_call(changing.path(), &engine).await?;
    let evaluated = per_call(pace, LONG_CALLS, |calls| prepare(&begun, calls)).await?;
    bench.report.add("call of that handler, p50", kept, "µs").against("its modules evaluated for each call", evaluated);
    Ok(())
}

/// Files of a module whose function `note` is this handler.
pub(crate) fn written(handlers: &str) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("desk.json"), DEFINITION)?;
    std::fs::write(folder.path().join("desk.ts"), handlers)?;
    Ok(folder)
}

/// Milliseconds from the files to the first answer, and the space.
pub(crate) async fn first_call(folder: &Path, engine: &Engine) -> Result<(f64, Space)> {
    let begun = Instant::now();
    let definitions = definitions_at(folder, &Outlines::none())?;
    let space = SpaceModules::all(&definitions).assemble(engine)?;
    let report = prepare(&space, 1)?.run(RunOptions::default()).await;
    report.outcome.map_err(|error| anyhow::anyhow!("{error:?}"))?;
    Ok((begun.elapsed().as_secs_f64() * 1e3, space))
}

fn prepare(space: &Space, calls: usize) -> Result<Program> {
    let script = format!(
        "import {{ desk }} from '@capabilities/desk';
         for (let i = 0; i < {calls}; i++) await desk.note({{ text: 'four' }});"
    );
    Ok(space.prepare("bench.js", &script)?)
}

/// Microseconds per call, without those of an empty run.
async fn per_call(pace: Pace, calls: usize, prepare: impl Fn(usize) -> Result<Program>) -> Result<f64> {
    let (busy, idle, rounds) = (prepare(calls)?, prepare(0)?, pace.rounds(ROUNDS) / 3);
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let busy = times_in_task(rounds, &busy).await?.p50;
        let idle = times_in_task(rounds, &idle).await?.p50;
        least = least.min((busy - idle) / calls as f64);
    }
    Ok(least)
}
