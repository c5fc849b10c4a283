//! Workload scripts shared with all peers, with their expected answers, from `workloads/`.

use crate::timing::{Times, times_within};
use agent_spaces::{Limits, Program, RunOptions, RunReport, Space};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

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
        Ok(Ready { program: space.prepare(&self.file, &self.source()?)?, expected: self.expected.clone() })
    }

    /// Checks the answer.
    pub(crate) fn check(&self, answer: &Value) -> Result<()> {
        check(answer, &self.expected)
    }
}

impl Ready {
    pub(crate) fn run(&self) -> impl Future<Output = RunReport> {
        // Room for an answer of ten megabytes and its copies.
        let limits = Limits { memory: 256 << 20, ..Limits::default() };
        self.program.run(RunOptions { limits: Some(limits), ..RunOptions::default() })
    }

    /// Times fresh runs within this budget.
    pub(crate) async fn times(&self, budget: Duration) -> Result<Times> {
        times_within(budget, || self.run(), |report| self.check(&report)).await
    }

    pub(crate) fn check(&self, report: &RunReport) -> Result<()> {
        let answer = report.outcome.as_ref().map_err(|error| anyhow::anyhow!("the script failed: {error:?}"))?;
        check(answer, &self.expected)
    }
}

fn check(answer: &Value, expected: &Value) -> Result<()> {
    ensure!(answer == expected, "the answer is {answer}, not {expected}");
    Ok(())
}
