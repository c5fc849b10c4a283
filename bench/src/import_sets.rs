//! Cost of linking a new set of imports.

use crate::bench::Bench;
use crate::spaces;
use agent_spaces::{Handlers, Interfaces, Space};
use anyhow::Result;
use std::fmt::Write;
use std::time::Instant;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let engine = spaces::engine()?;
    for functions in [1, 10, 100] {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let space = tools(&engine, functions)?;
            let begun = Instant::now();
            space.prepare("bench.js", "import { tools } from '@capabilities/tools'; 1")?;
            best = best.min(begun.elapsed().as_secs_f64() * 1e3);
        }
        bench.report.add(&format!("new import set of {functions} functions"), best, "ms").at_most(150.0);
    }
    Ok(())
}

/// Space with one interface of this many functions, not compiled yet.
fn tools(engine: &agent_spaces::Engine, functions: usize) -> Result<Space> {
    let mut wit = String::from(
        "package capabilities:tools@1.0.0; interface tools { use agent-spaces:host/types@0.1.0.{capability-error, json};\n",
    );
    let mut handlers = Handlers::new();
    for i in 0..functions {
        let _ = writeln!(
            wit,
            "record params{i} {{ name: string, count: option<s64>, tags: list<string>, extra: option<json> }}
             record answer{i} {{ id: string, score: f64, labels: list<string> }}
             call{i}: async func(params: params{i}) -> result<list<answer{i}>, capability-error>;"
        );
        handlers.add("capabilities:tools/tools@1.0.0", format!("call{i}"), |_| async { Ok(serde_json::json!([])) });
    }
    wit.push('}');
    let mut interfaces = Interfaces::new()?;
    interfaces.add("tools.wit", &wit)?;
    Ok(Space::builder(engine).interfaces(interfaces, handlers).build()?)
}
