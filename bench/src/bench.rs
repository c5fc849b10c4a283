//! Context of measurements: the report, the time budget, and the peers.

use crate::arguments::Arguments;
use crate::peers::{self, Peer};
use crate::report::Report;
use crate::spaces;
use agent_spaces::{Cache, Engine, EngineConfig};
use anyhow::Result;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Bench {
    pub(crate) report: Report,
    pub(crate) pace: Pace,
    pub(crate) clean_build: bool,
    /// Loaded on first use.
    peers: Option<Vec<Peer>>,
    /// The engine's compiled code.
    code: Option<TempDir>,
}

/// Number of rounds and time budgets.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    is_quick: bool,
}

impl Bench {
    pub(crate) fn new(arguments: &Arguments) -> Bench {
        let pace = Pace { is_quick: arguments.quick };
        Bench { report: Report::default(), pace, clean_build: arguments.clean_build, peers: None, code: None }
    }

    /// Creates a new engine, so that a measurement does not reuse run slots of another.
    pub(crate) fn engine(&mut self) -> Result<Engine> {
        self.engine_with(EngineConfig::default())
    }

    /// The same with other settings.
    pub(crate) fn engine_with(&mut self, config: EngineConfig) -> Result<Engine> {
        let code = match self.code.take() {
            Some(code) => code,
            None => tempfile::tempdir()?,
        };
        let folder = self.code.insert(code).path();
        let cache = Cache::open(&folder.join("code"), &folder.join("key/key"))?;
        spaces::engine_with(config.with_cache(cache))
    }

    /// Returns the available peers. The first call notes why others are not.
    pub(crate) async fn peers(&mut self) -> Vec<Peer> {
        if let Some(peers) = &self.peers {
            return peers.clone();
        }
        let peers = match peers::list().await {
            Ok(peers) => peers,
            Err(error) => {
                self.report.note(format!("skipped: every peer that needs node: {error:#}"));
                Vec::new()
            }
        };
        for peer in &peers {
            if let Some(why) = peer.unavailable() {
                self.report.note(format!("skipped: {}: {why}", peer.name));
            }
        }
        let available: Vec<Peer> = peers.into_iter().filter(|peer| peer.unavailable().is_none()).collect();
        self.peers.insert(available).clone()
    }
}

impl Pace {
    pub(crate) fn rounds(self, count: usize) -> usize {
        if self.is_quick { (count / 10).max(1) } else { count }
    }

    pub(crate) fn budget(self, milliseconds: u64) -> Duration {
        Duration::from_millis(if self.is_quick { (milliseconds / 10).max(1) } else { milliseconds })
    }
}
