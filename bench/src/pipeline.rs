//! Cost of the call pipeline without rules, compared with a bare wasmtime import.
//!
//! Both return their arguments at once. Ours takes all steps: grant, policy, schema, counts, provider, redaction,
//! events and accounting.

use crate::bare::{Bare, CapabilityError};
use crate::bench::Bench;
use crate::json_text;
use crate::timing::times;
use agent_spaces::{Handlers, Interfaces, Package, PackageOutline, RunOptions, Space};
use anyhow::Result;
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::parse_value;
use serde_json::json;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};

/// Calls per run, enough to make the cost of the run itself negligible.
const CALLS: usize = 200;
const ROUNDS: usize = 300;

#[derive(ComponentType, Lift)]
#[component(record)]
struct NoteParams {
    text: String,
    count: f64,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct NoteResult {
    text: String,
    count: f64,
    extras: Option<String>,
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let (interfaces, interface) = desk()?;
    let bare = |calls| {
        Bare::with(&script(calls), &interfaces, |linker: &mut Linker<()>| {
            linker.instance(&interface)?.func_wrap_concurrent("note", |_, (params,): (NoteParams,)| {
                let NoteParams { text, count } = params;
                let answer: Result<_, CapabilityError> = Ok(NoteResult { text, count, extras: None });
                Box::pin(async move { Ok((answer,)) })
            })?;
            Ok(())
        })
    };
    let mut handlers = Handlers::new();
    handlers.add(&interface, "note", |call| async move { Ok(call.params) });
    let space = Space::builder(&bench.engine()?).interfaces(desk()?.0, handlers).build()?;
    let ours = |calls| space.prepare("bench.js", &script(calls));

    let (bare, bare_idle) = (bare(CALLS)?, bare(0)?);
    let (text, text_idle) = (json_text::bare(CALLS)?, json_text::bare(0)?);
    let (ours, ours_idle) = (ours(CALLS)?, ours(0)?);
    let answered = ours.run(RunOptions::default()).await.outcome?.to_string();
    for answer in [bare.run().await?, text.run().await?, answered] {
        anyhow::ensure!(answer == CALLS.to_string(), "not every call was answered: {answer}");
    }
    // Interleaved, so that all see the same load on the machine.
    let mut least = [f64::INFINITY; 3];
    let rounds = bench.pace.rounds(ROUNDS) / 5;
    for _ in 0..5 {
        let busy = times(rounds, || ours.run(RunOptions::default())).await.p50;
        let idle = times(rounds, || ours_idle.run(RunOptions::default())).await.p50;
        let mut each = [(busy - idle) / CALLS as f64, 0.0, 0.0];
        for (at, busy, idle) in [(1, &bare, &bare_idle), (2, &text, &text_idle)] {
            let (busy, idle) = (times(rounds, || busy.run()).await.p50, times(rounds, || idle.run()).await.p50);
            each[at] = (busy - idle) / CALLS as f64;
        }
        least = std::array::from_fn(|at| least[at].min(each[at]));
    }
    let [ours, bare, text] = least;
    let what = "typed call, a small record each way, no rules";
    bench.report.add(what, ours, "µs").at_most(8.0);
    bench.report.add(what, ours, "µs").against("typed, bare import", bare);
    bench.report.add(what, ours, "µs").against("a JSON string through a bare import", text).at_most(1.0);
    bench.report.add("what the pipeline adds to the bare import", ours - bare, "µs").at_most(20.0);
    Ok(())
}

/// A function with a schema, and the full name of its interface.
fn desk() -> Result<(Interfaces, String)> {
    let members = json!({ "text": { "type": "string" }, "count": { "type": "number" } });
    let schema = json!({ "type": "object", "properties": members, "required": ["text", "count"] });
    let function = json!({ "name": "note", "description": "Notes", "parameters": schema, "returns": schema });
    let definition = json!({ "name": "desk", "description": "A desk", "functions": [function] });
    let definitions = parse_value("desk.json", &definition, None, None)?;
    let module = compile(ModuleSource { specifier: None, stem: None, definitions })?;
    let name = PackageOutline::of(&module).interfaces.iter().map(|interface| interface.name.clone()).collect();
    let mut interfaces = Interfaces::new()?;
    interfaces.add_package(Package::new(module))?;
    Ok((interfaces, name))
}

fn script(calls: usize) -> String {
    format!(
        "import {{ desk }} from '@capabilities/desk';
         let answered = 0;
         for (let i = 0; i < {calls}; i++) answered += (await desk.note({{ text: 'four', count: i }})).text === 'four';
         export default answered;"
    )
}
