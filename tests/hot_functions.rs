//! Functions of hot scripts as native code: values, errors, their positions and fuel are those of the interpreter.

mod generated;
mod scripts;

use agent_spaces::{Engine, EngineConfig, Limits, Program, RunOptions, RunReport, Space};
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A space whose scripts have hot functions, and one whose scripts have none.
struct Pair {
    on: Space,
    off: Space,
}

fn pair() -> Pair {
    static ENGINES: OnceLock<[Engine; 2]> = OnceLock::new();
    let [on, off] = ENGINES.get_or_init(|| {
        [true, false].map(|compile_hot_functions| {
            Engine::new(EngineConfig { compile_hot_functions, ..EngineConfig::default() }).unwrap()
        })
    });
    Pair { on: Space::builder(on).build().unwrap(), off: Space::builder(off).build().unwrap() }
}

async fn run(program: &Program, limits: &Limits) -> RunReport {
    program.run(RunOptions { limits: Some(limits.clone()), ..RunOptions::default() }).await
}

/// A run is ended by its fuel, also on a machine that has no time for it.
const LONG: Duration = Duration::from_secs(600);

/// Limits under which a run that makes a program hot ends soon, and in which a script of some hundred lines can be compiled.
fn short() -> Limits {
    Limits { fuel: 20_000_000, time: LONG, ..Limits::default() }
}

/// Runs after which a script is hot: `HOT_RUNS` of the sandbox, which is private.
const RUNS: u32 = 8;

/// Longest wait for the functions of a program to be compiled.
const COMPILING: Duration = Duration::from_secs(20);

/// Runs a program until its functions are compiled; false if none are.
async fn heat(program: &Program, patience: Duration) -> bool {
    let (started, mut runs) = (Instant::now(), 0);
    while program.compiled_functions() == 0 {
        if program.is_kept_compiled() && started.elapsed() > patience || started.elapsed() > COMPILING {
            return false;
        }
        // Once it is kept compiled, its functions are compiled without further runs; before, an attempt that failed is
        // made again after more of them.
        if !program.is_kept_compiled() && (runs < RUNS || started.elapsed() > patience / 4) {
            // The attempt has the limits of the run after which it is made; those before only count.
            let limits = if runs + 1 < RUNS { Limits { fuel: 100_000, ..short() } } else { short() };
            run(program, &limits).await;
            runs += 1;
        } else {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    true
}

/// Outcome, console and usage of a run, without its time and id.
fn observable(report: &RunReport) -> Value {
    let console: Vec<_> = report.console.iter().map(|line| &line.text).collect();
    let outcome = report.outcome.as_ref().map(ToString::to_string).map_err(|error| format!("{error:?}"));
    let usage = &report.usage;
    json!([format!("{outcome:?}"), format!("{console:?}"), usage.fuel, usage.memory_bytes, usage.calls])
}

/// Compares a script's runs with and without compiled functions; returns how many functions were compiled.
async fn compare(pair: &Pair, source: &str, limits: &[Limits]) -> usize {
    let (on, off) = (pair.on.prepare("agent.ts", source).unwrap(), pair.off.prepare("agent.ts", source).unwrap());
    assert!(heat(&on, COMPILING).await, "nothing is compiled of {source}");
    for limits in limits {
        let expected = observable(&run(&off, limits).await);
        assert_eq!(observable(&run(&on, limits).await), expected, "{limits:?} {source}");
    }
    assert_eq!(off.compiled_functions(), 0);
    on.compiled_functions()
}
