//! Workload scripts shared with all peers, with their expected answers, from `workloads/`.

use crate::timing::{Times, times_within};
use agent_spaces::{Limits, Program, RunOptions, RunReport, Space};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Eight runs make a script hot; the rest is time for the compiler.
const MAX_RUNS_UNTIL_KEPT: usize = 100;

/// No workload ends at a limit of fuel: what it takes is guarded by `fuel`.
pub(crate) const FUEL: u64 = 1 << 40;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads");

#[derive(Deserialize)]
struct List {
    workloads: Vec<Workload>,
}

#[derive(Deserialize)]
pub(crate) struct Workload {
    pub(crate) name: String,
    /// Short description.
    pub(crate) what: String,
    pub(crate) file: String,
    pub(crate) kind: Kind,
    expected: Value,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    /// JavaScript alone.
    Script,
    /// JavaScript that computes for a while.
    Kernel,
    /// Calls of the desk.
    Calls,
    /// Calls of the desk, and computing with what it answers.
    Agent,
}

/// Workload prepared as a program.
pub(crate) struct Ready {
    program: Program,
    expected: Value,
}

pub(crate) fn all() -> Result<Vec<Workload>> {
    let path = format!("{FOLDER}/workloads.json");
    let text = std::fs::read(&path).with_context(|| format!("{path} cannot be read"))?;
    let list: List = serde_json::from_slice(&text).with_context(|| format!("{path} is not a list of workloads"))?;
    Ok(list.workloads)
}

pub(crate) fn named(name: &str) -> Result<Workload> {
    let found = all()?.into_iter().find(|workload| workload.name == name);
    found.with_context(|| format!("workloads.json has no {name}"))
}

impl Workload {
    pub(crate) fn path(&self) -> String {
        format!("{FOLDER}/{}", self.file)
    }

    pub(crate) fn source(&self) -> Result<String> {
        let path = self.path();
        std::fs::read_to_string(&path).with_context(|| format!("{path} cannot be read"))
    }

    pub(crate) fn title(&self) -> String {
        format!("{}: {}", self.name, self.what)
    }

    pub(crate) fn ready(&self, space: &Space) -> Result<Ready> {
        self.prepare(space, &self.source()?)
    }

    /// Prepares its source, which was read before.
    pub(crate) fn prepare(&self, space: &Space, source: &str) -> Result<Ready> {
        Ok(Ready { program: space.prepare(&self.file, source)?, expected: self.expected.clone() })
    }

    /// Checks the answer.
    pub(crate) fn check(&self, answer: &Value) -> Result<()> {
        check(answer, &self.expected)
    }
}

impl Ready {
    pub(crate) fn run(&self) -> impl Future<Output = RunReport> {
        // Room for an answer of ten megabytes and its copies.
        let limits = Limits { memory: 256 << 20, fuel: FUEL, ..Limits::default() };
        self.program.run(RunOptions { limits: Some(limits), ..RunOptions::default() })
    }

    /// Runs until the script is kept compiled.
    pub(crate) async fn keep(&self) -> Result<()> {
        for _ in 0..MAX_RUNS_UNTIL_KEPT {
            if self.program.is_kept_compiled() {
                return Ok(());
            }
            self.check(&self.run().await)?;
            // It is compiled beside the runs, and they may take both cores.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bail!("the script is not kept compiled after {MAX_RUNS_UNTIL_KEPT} runs")
    }

    /// Times fresh runs within this budget.
    pub(crate) async fn times(&self, budget: Duration) -> Result<Times> {
        times_within(budget, || self.run(), |report| self.check(&report)).await
    }

    pub(crate) fn check(&self, report: &RunReport) -> Result<()> {
        check(answer(report)?, &self.expected)
    }
}

/// Returns the answer of a run.
pub(crate) fn answer(report: &RunReport) -> Result<&Value> {
    report.outcome.as_ref().map_err(|error| anyhow::anyhow!("the script failed: {error:?}"))
}

fn check(answer: &Value, expected: &Value) -> Result<()> {
    ensure!(answer == expected, "the answer is {answer}, not {expected}");
    Ok(())
}
