//! A space of 5,000 functions beside one of ten: a run links only what its script imports.

use crate::report::Report;
use crate::spaces;
use crate::timing::times;
use agent_spaces::project::{Outlines, Project, Scope, build};
use agent_spaces::{Engine, EngineConfig, Program, RunOptions};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

const FUNCTIONS: usize = 10;
const MODULES: usize = 500;
const ROUNDS: usize = 5_000;
const SCRIPT: &str =
    "import { tool0 } from '@capabilities/tool0'; (await tool0.call3({ query: 'trains' })).items.length";
const HANDLERS: &str = "const answer = () => ({ items: [{ id: 'a', score: 1 }] });
export { answer as call0, answer as call1, answer as call2, answer as call3, answer as call4 };
";

pub(crate) async fn measure(report: &mut Report) -> Result<()> {
    let engine = spaces::engine(EngineConfig::default())?;
    let small = tempfile::tempdir()?;
    let large = tempfile::tempdir()?;
    write_project(small.path(), 1)?;
    write_project(large.path(), MODULES)?;

    let count = MODULES * FUNCTIONS;
    let outlines = Outlines::in_folder(large.path().join("outlines"));
    let (project, cold) = timed(|| built(large.path(), &engine, &outlines))?;
    report.add(&format!("build {count} functions, cold"), cold, "ms");
    let (_, warm) = timed(|| built(large.path(), &engine, &outlines))?;
    report.add(&format!("build {count} functions, no change"), warm, "ms");
    let (_, opened) = timed(|| prepare(&project, &engine))?;
    report.add(&format!("space of {count} functions, from definitions to a ready script"), opened, "ms");

    let one = prepare(&built(small.path(), &engine, &Outlines::none())?, &engine)?;
    let many = prepare(&project, &engine)?;
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..10 {
        ours = ours.min(times(ROUNDS / 10, || many.run(RunOptions::default())).await.p50);
        theirs = theirs.min(times(ROUNDS / 10, || one.run(RunOptions::default())).await.p50);
    }
    report
        .add(&format!("fresh run with a call, space of {count} functions"), ours, "µs")
        .against(&format!("space of {FUNCTIONS} functions"), theirs)
        .at_most(1.2);
    Ok(())
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

/// A project of so many modules of ten functions each; the first has handlers.
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

/// About as large as the functions of public MCP servers.
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
