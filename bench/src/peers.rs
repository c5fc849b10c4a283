//! Peers: alternatives in `bench/peers` that run the same workloads in Node.js.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");
/// Extra time of a peer besides its budget: startup, warm-up, and long rounds.
const GRACE: Duration = Duration::from_secs(60);
const ADVICE: &str = "install node and run `npm ci` in bench/peers";

#[derive(Clone, Deserialize)]
pub(crate) struct Peer {
    pub(crate) name: String,
    available: bool,
    why: Option<String>,
    workloads: Vec<String>,
}

/// Measured rounds of a peer, in microseconds.
#[derive(Deserialize)]
pub(crate) struct Measured {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Median of the evaluation alone.
    #[serde(default)]
    pub(crate) evaluation: Option<f64>,
    /// Growth of its process in bytes, if measured.
    pub(crate) resident: Option<f64>,
}

impl Measured {
    /// Returns the one with the lower median, as for our own.
    pub(crate) fn better_of(self, other: Measured) -> Measured {
        if other.p50 < self.p50 { other } else { self }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Skipped { skipped: String },
    Measured(Measured),
}

/// Requests of a peer that serves durable functions over HTTP.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Served {
    pub(crate) per_second: f64,
    /// Milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ServedAnswer {
    Skipped { skipped: String },
    Served(Served),
}

/// Measures requests to Restate, whose server is in `bench/peers`.
pub(crate) async fn restate(requests: usize, clients: usize) -> Result<Served> {
    let answer =
        node(&["restate.mjs", &requests.to_string(), &clients.to_string()], GRACE * 2).await.context(ADVICE)?;
    let last = answer.lines().last().unwrap_or_default();
    match serde_json::from_str(last).with_context(|| format!("no figures: {answer}"))? {
        ServedAnswer::Served(served) => Ok(served),
        ServedAnswer::Skipped { skipped } => bail!("{skipped}"),
    }
}

/// Lists all peers, including unavailable ones.
pub(crate) async fn list() -> Result<Vec<Peer>> {
    ensure!(std::path::Path::new(FOLDER).join("node_modules").is_dir(), "{ADVICE}");
    let listed = node(&["main.mjs", "--list"], GRACE).await.context(ADVICE)?;
    serde_json::from_str(&listed).context("bench/peers/main.mjs --list gave no list of peers")
}

impl Peer {
    pub(crate) fn unavailable(&self) -> Option<&str> {
        (!self.available).then(|| self.why.as_deref().unwrap_or("it says no reason"))
    }

    pub(crate) fn can(&self, workload: &str) -> bool {
        self.workloads.iter().any(|known| known == workload)
    }

    /// Measures rounds of a workload within this budget.
    pub(crate) async fn measure(&self, workload: &str, budget: Duration) -> Result<Measured> {
        self.asked(workload, &["--budget", &budget.as_millis().to_string()], budget).await
    }

    /// Measures a kernel that is called again and again in one sandbox.
    pub(crate) async fn measure_hot(&self, kernel: &str, budget: Duration) -> Result<Measured> {
        self.asked(kernel, &["--hot", "--budget", &budget.as_millis().to_string()], budget).await
    }

    /// Measures this many concurrent runs.
    pub(crate) async fn measure_at_once(&self, workload: &str, runs: usize) -> Result<Measured> {
        self.asked(workload, &["--rounds", &runs.to_string()], GRACE).await
    }

    async fn asked(&self, workload: &str, options: &[&str], budget: Duration) -> Result<Measured> {
        let mut arguments = vec!["main.mjs", self.name.as_str(), workload];
        arguments.extend(options);
        let answer = node(&arguments, budget * 2 + GRACE).await?;
        match serde_json::from_str(&answer).with_context(|| format!("no figures: {answer}"))? {
            Answer::Measured(measured) => Ok(measured),
            Answer::Skipped { skipped } => bail!("{skipped}"),
        }
    }
}

/// Runs a program of the folder, and returns its stdout.
pub(crate) async fn node(arguments: &[&str], time: Duration) -> Result<String> {
    let mut command = Command::new("node");
    command.args(arguments).current_dir(FOLDER).stdin(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(time, command.output());
    let output = ended.await.with_context(|| format!("no answer in {} s", time.as_secs()))?.context("no node")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed and said nothing"));
    }
    Ok(String::from_utf8(output.stdout)?)
}
