//! `agent-spaces mcp serve` as an agent meets it: the command itself, in a home of its own.
//!
//! - `agent`: the command and a client of it
//! - `replay`: a server that answers from a kept list of tools
//! - `tokens`: what an agent reads
//! - `crowd`: many servers, of which some are broken

mod agent;
mod crowd;
pub(crate) mod replay;
mod tokens;

use crate::bench::Bench;
use anyhow::Result;
use std::path::{Path, PathBuf};

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let Some(command) = crate::home::command()? else { return Ok(()) };
    let lists = lists()?;
    tokens::measure(bench, &command, &lists).await?;
    crowd::measure(bench, &command, &lists)
}

/// Kept answers to `tools/list` of public servers, as `AGENT_SPACES_CORPUS` has them; else those of the three-server task.
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
