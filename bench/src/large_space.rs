//! Spaces of 10 to 5,000 functions: a run links only what its script imports.

use crate::bench::Bench;
use crate::spaces;
use crate::timing::{least, times_in_task};
use agent_spaces::project::{Outlines, Project, Scope, build};
use agent_spaces::{Engine, Program};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Functions of each module.
const FUNCTIONS: usize = 10;
const SMALL: usize = 1;
const MODULES: [usize; 4] = [SMALL, 10, 100, 500];
const ROUNDS: usize = 5_000;
const SCRIPT: &str =
    "import { tool0 } from '@capabilities/tool0'; (await tool0.call3({ query: 'trains' })).items.length";
const HANDLERS: &str = "const answer = () => ({ items: [{ id: 'a', score: 1 }] });
export { answer as call0, answer as call1, answer as call2, answer as call3, answer as call4 };
";

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let engine = spaces::engine()?;
    let folder = tempfile::tempdir()?;
    write_project(folder.path(), SMALL)?;
    let small = prepare(&built(folder.path(), &engine, &Outlines::none())?, &engine)?;
    for modules in MODULES {
        let many = opened(bench, &engine, modules)?;
        let rounds = bench.pace.rounds(ROUNDS) / 10;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            ours.push(times_in_task(rounds, &many).await?.p50);
            theirs.push(times_in_task(rounds, &small).await?.p50);
        }
        let what = format!("fresh run with a call, space of {} functions", modules * FUNCTIONS);
        let row = bench.report.add(&what, least(ours), "µs");
        if modules != SMALL {
            row.against(&format!("space of {} functions", SMALL * FUNCTIONS), least(theirs)).at_most(1.2);
        }
    }
    Ok(())
}

/// Builds a space of this many modules twice, cold and cached, and prepares the script in it.
fn opened(bench: &mut Bench, engine: &Engine, modules: usize) -> Result<Program> {
    let (folder, count) = (tempfile::tempdir()?, modules * FUNCTIONS);
    write_project(folder.path(), modules)?;
    let outlines = Outlines::in_folder(folder.path().join("outlines"));
    let (project, cold) = timed(|| built(folder.path(), engine, &outlines))?;
    bench.report.add(&format!("build {count} functions, cold"), cold, "ms");
    let (_, warm) = timed(|| built(folder.path(), engine, &outlines))?;
    bench.report.add(&format!("build {count} functions, no change"), warm, "ms");
    let (program, ready) = timed(|| prepare(&project, engine))?;
    bench.report.add(&format!("space of {count} functions, from definitions to a ready script"), ready, "ms");
    Ok(program)
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let begun = Instant::now();
    let value = work()?;
    Ok((value, begun.elapsed().as_secs_f64() * 1e3))
}

fn built(folder: &Path, engine: &Engine, outlines: &Outlines) -> Result<Project> {
    let project = Project::open(&folder.join("agent-spaces.config.json"), engine, outlines)?;
    build(folder, project.definitions(), Scope::Whole, |_| {})?;
    Ok(project)
}

fn prepare(project: &Project, engine: &Engine) -> Result<Program> {
    Ok(project.space(None)?.assemble(engine)?.prepare("bench.ts", SCRIPT)?)
}

/// Writes a project of this many modules of ten functions; the first has handlers.
fn write_project(folder: &Path, modules: usize) -> Result<()> {
    let tools = folder.join("tools");
    std::fs::create_dir(&tools)?;
    for module in 0..modules {
        let definition = json!({
            "name": format!("tool{module}"),
            "description": "Searches one of many collections",
            "functions": (0..FUNCTIONS).map(function).collect::<Vec<_>>(),
        });
        std::fs::write(tools.join(format!("tool{module}.json")), definition.to_string())?;
    }
    std::fs::write(tools.join("tool0.ts"), HANDLERS)?;
    let config = json!({ "capabilities": { "global": ["./tools"] } });
    Ok(std::fs::write(folder.join("agent-spaces.config.json"), config.to_string())?)
}

/// A function of typical size for public MCP servers.
fn function(index: usize) -> Value {
    json!({
        "name": format!("call{index}"),
        "description": "Searches the collection and returns what fits best, a page at a time",
        "parameters": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "What to look for", "minLength": 1 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 },
                "order": { "type": "string", "enum": ["newest", "oldest", "best"] },
                "filter": {
                    "type": "object",
                    "properties": { "owner": { "type": "string" }, "tags": { "type": "array", "items": { "type": "string" } } }
                },
                "cursor": { "type": ["string", "null"], "description": "Where the last page ended" }
            },
            "required": ["query"]
        },
        "returns": {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": { "type": "object", "properties": { "id": { "type": "string" }, "score": { "type": "number" } }, "required": ["id"] }
                },
                "next": { "type": ["string", "null"] }
            },
            "required": ["items"]
        }
    })
}
