//! `agent-spaces mcp serve` as seen by an agent: the real command in a fresh home.
//!
//! - `agent`: MCP client of the command
//! - `replay`: server with a recorded list of tools
//! - `tokens`: tokens that an agent reads
//! - `many_servers`: many servers, some of them broken

mod agent;
mod many_servers;
pub(crate) mod replay;
mod tokens;

use crate::bench::Bench;
use anyhow::Result;
use std::path::{Path, PathBuf};

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let Some(command) = crate::home::command()? else { return Ok(()) };
    let lists = lists()?;
    tokens::measure(bench, &command, &lists).await?;
    many_servers::measure(bench, &command, &lists)
}

/// Recorded `tools/list` answers of public servers from `AGENT_SPACES_CORPUS`, or those of the three-server task.
fn lists() -> Result<Vec<PathBuf>> {
    let corpus = std::env::var_os("AGENT_SPACES_CORPUS").map(|corpus| Path::new(&corpus).join("servers"));
    if corpus.is_none() {
        eprintln!(
            "AGENT_SPACES_CORPUS names no folder with servers/*.json: three small servers stand in for public ones"
        );
    }
    let folder = corpus.unwrap_or_else(|| tokens::TASK.into());
    let mut lists: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    lists.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    lists.sort();
    Ok(lists)
}
