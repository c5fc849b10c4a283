//! What a sandbox costs: `cargo run --release -p agent-spaces-bench [-- --json FILE] [NAME …]`.
//!
//! Every figure stands beside a peer that was measured in the same process, as a ratio, or is a count.
//! One file to a measurement; each adds rows to the [`report::Report`].

mod bare;
mod calls;
mod cli;
mod fresh;
mod import_sets;
mod large_space;
mod mcp;
mod parked;
mod pipeline;
mod providers;
mod report;
mod served;
mod spaces;
mod throughput;
mod timing;

use anyhow::Result;
use report::Report;

fn main() -> Result<()> {
    agent_spaces_mcp::process::supervise_if_asked();
    let own: Vec<String> = std::env::args().skip(1).collect();
    match own.first().map(String::as_str) {
        Some(mcp::ECHO) => return served::replay::serve(&mcp::tools()),
        Some(served::replay::REPLAY) => return served::replay::serve_file(&own[1..]),
        _ => {}
    }
    let mut json = None;
    let mut names = Vec::new();
    let mut arguments = own.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = arguments.next(),
            _ => names.push(argument),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut report = Report::default();
    runtime.block_on(measure(&mut report, &names))?;
    print!("{}", report.table());
    if let Some(path) = json {
        std::fs::write(path, report.json())?;
    }
    Ok(())
}

async fn measure(report: &mut Report, names: &[String]) -> Result<()> {
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    if wanted("fresh") {
        fresh::measure(report).await?;
    }
    if wanted("calls") {
        calls::measure(report).await?;
    }
    if wanted("pipeline") {
        pipeline::measure(report).await?;
    }
    if wanted("providers") {
        providers::measure(report).await?;
    }
    if wanted("throughput") {
        throughput::measure(report).await?;
    }
    if wanted("import-sets") {
        import_sets::measure(report)?;
    }
    if wanted("large-space") {
        large_space::measure(report).await?;
    }
    if wanted("mcp") {
        mcp::measure(report).await?;
    }
    if wanted("served") {
        served::measure(report).await?;
    }
    if wanted("parked") {
        parked::measure(report).await?;
    }
    if wanted("cli") {
        cli::measure(report)?;
    }
    Ok(())
}
