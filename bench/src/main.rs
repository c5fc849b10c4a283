//! Benchmarks of the sandbox: `cargo run --release -p agent-spaces-bench [-- --help]`.
//!
//! Every figure is a ratio to a peer measured in the same run, or a count. One file per measurement, listed in
//! [`groups`]; each adds rows to the [`report::Report`].

mod agent_scripts;
mod alone;
mod arguments;
mod bare;
mod bench;
mod calls;
mod charts;
mod clean_build;
mod cli;
mod componentize_qjs;
mod cores;
mod desk;
mod disk;
mod durable;
mod fresh;
mod fuel;
mod groups;
mod home;
mod hot;
mod import_sets;
mod json_text;
mod kernels;
mod large_space;
mod mcp;
mod metering;
mod outputs;
mod pairs;
mod parked;
mod peers;
mod pipeline;
mod proc;
mod providers;
mod report;
mod served;
mod service;
mod side_by_side;
mod spaces;
mod timing;
mod waiting;
mod workloads;

use anyhow::{Result, bail};
use arguments::Arguments;
use bench::Bench;
use clap::Parser;
use groups::{GROUPS, Group};
use mimalloc::MiMalloc;
use std::process::ExitCode;
use std::time::Instant;

/// Same allocator as the command.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> Result<ExitCode> {
    agent_spaces_mcp::process::supervise_if_asked();
    let own: Vec<String> = std::env::args().skip(1).collect();
    match own.first().map(String::as_str) {
        Some(mcp::ECHO) => return served::replay::serve(&mcp::tools()).map(|()| ExitCode::SUCCESS),
        Some(served::replay::REPLAY) => return served::replay::serve_file(&own[1..]).map(|()| ExitCode::SUCCESS),
        Some(alone::ALONE) => return alone::serve(&own[1..]).map(|()| ExitCode::SUCCESS),
        _ => {}
    }
    let arguments = Arguments::parse();
    if arguments.list {
        GROUPS.iter().for_each(|group| println!("{:12} {}", group.name, group.what));
        return Ok(ExitCode::SUCCESS);
    }
    let groups = groups::wanted(&arguments.groups)?;
    let recorded = outputs::prepare(&arguments)?;
    let mut bench = Bench::new(&arguments);
    let failed = measure(&mut bench, &groups)?;
    print!("{}", bench.report.table());
    outputs::write(&bench.report, &arguments)?;
    if !failed.is_empty() {
        bail!("not measured: {}", failed.join(", "));
    }
    Ok(outputs::check(&bench.report, recorded.as_ref(), &groups))
}

/// Measures the groups in order, and returns those that failed; a failure does not stop the others.
fn measure(bench: &mut Bench, groups: &[&Group]) -> Result<Vec<&'static str>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut failed = Vec::new();
    for group in groups {
        eprintln!("--- {}: {}", group.name, group.what);
        let begun = Instant::now();
        bench.report.begin(group.name);
        if let Err(error) = runtime.block_on((group.measure)(bench)) {
            bench.report.note(format!("failed: {}: {error:#}", group.name));
            failed.push(group.name);
        }
        eprintln!("--- {} took {:.0} s", group.name, begun.elapsed().as_secs_f64());
    }
    Ok(failed)
}
