//! The suite: its releases, their scenarios, and the results of one run.

use serde_json::Value;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Timeout of a run of the suite.
const PATIENCE: Duration = Duration::from_secs(90);
/// Paths of the releases in the folder of the suite.
const RELEASES: [&str; 2] = ["node_modules/@modelcontextprotocol/conformance", "node_modules/conformance-next"];
/// Check that all messages are well-formed: reported for every run, even if nothing of the scenario was checked.
const WIRE: &str = "wire-schema-valid";
/// Extensions belong to no protocol version: if there is more than one generation, they are run with each.
const EXTENSION: &str = "extension";
const GENERATIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// One release of the suite.
pub(crate) struct Release {
    node: PathBuf,
    program: PathBuf,
    version: String,
}

/// One scenario of one release, for one target, and for one protocol version if the release can choose.
pub(crate) struct Case {
    release: Arc<Release>,
    pub(crate) scenario: String,
    wire: Option<String>,
    /// Target under test; empty if there is only one.
    pub(crate) target: &'static str,
}

/// Result of a run.
pub(crate) enum Verdict {
    /// Number of checks, all of which succeeded.
    Pass(usize),
    /// Checks that failed, and the reason.
    Fail { checks: BTreeSet<String>, why: String },
}

impl Verdict {
    /// Creates the result of a run that failed as a whole.
    pub(crate) fn failed(why: String) -> Verdict {
        Verdict::Fail { checks: BTreeSet::new(), why }
    }

    pub(crate) fn is_pass(&self) -> bool {
        matches!(self, Verdict::Pass(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Pass(checks) => write!(formatter, "pass ({checks} checks)"),
            Verdict::Fail { why, .. } => write!(formatter, "FAIL: {why}"),
        }
    }
}

/// Name in the baseline.
impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.release.version, self.wire.as_deref().unwrap_or("-"), self.scenario)?;
        if !self.target.is_empty() {
            write!(formatter, "@{}", self.target)?;
        }
        Ok(())
    }
}

/// Returns the releases in a folder.
pub(crate) fn releases(folder: &Path, node: &Path) -> Result<Vec<Arc<Release>>, Box<dyn Error>> {
    RELEASES.iter().map(|place| Release::read(&folder.join(place), node).map(Arc::new)).collect()
}

impl Release {
    fn read(folder: &Path, node: &Path) -> Result<Release, Box<dyn Error>> {
        let file = folder.join("package.json");
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let package: Value = serde_json::from_str(&text)?;
        let version = package.get("version").and_then(Value::as_str).ok_or("the suite does not say its version")?;
        Ok(Release { node: node.to_owned(), program: folder.join("dist/index.js"), version: version.to_owned() })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.program).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Returns all scenarios for one side, `client` or `server`, each for each of its targets.
    pub(crate) async fn cases(
        self: Arc<Release>,
        side: &str,
        targets: fn(&str) -> &'static [&'static str],
    ) -> Result<Vec<Case>, Box<dyn Error>> {
        let list = ["list".to_owned(), format!("--{side}")];
        let output = tokio::time::timeout(PATIENCE, self.command().args(list).output()).await??;
        let listed = String::from_utf8(output.stdout)?;
        let chooses = listed.contains(GENERATIONS[1]);
        let mut cases = Vec::new();
        for line in listed.lines().filter_map(|line| line.trim().strip_prefix("- ")) {
            let (scenario, versions) = line
                .strip_suffix(']')
                .and_then(|line| line.split_once(" ["))
                .ok_or_else(|| format!("the suite {} lists `{line}`, which is not understood", self.version))?;
            let wires: Vec<Option<&str>> = match versions {
                _ if !chooses => vec![None],
                EXTENSION => GENERATIONS.into_iter().map(Some).collect(),
                versions => versions.split(',').map(Some).collect(),
            };
            for (wire, target) in
                wires.iter().flat_map(|wire| targets(scenario).iter().map(move |target| (wire, target)))
            {
                let (release, scenario, wire) = (self.clone(), scenario.to_owned(), wire.map(str::to_owned));
                cases.push(Case { release, scenario, wire, target });
            }
        }
        if cases.is_empty() {
            return Err(format!("the suite {} lists no scenarios for a {side}", self.version).into());
        }
        Ok(cases)
    }
}

impl Case {
    /// Runs the scenario; `tested` are the suite's arguments for the program under test.
    pub(crate) async fn run(&self, tested: &[&str]) -> Result<Verdict, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let mut command = self.release.command();
        command.args(tested).args(["--scenario", &self.scenario, "-o"]).arg(folder.path());
        if let Some(wire) = &self.wire {
            // Without `--force`, extensions are skipped at every version.
            command.args(["--spec-version", wire, "--force"]);
        }
        let output = tokio::time::timeout(PATIENCE, command.output()).await??;
        let (mut successes, mut failed, mut faults) = (0, BTreeSet::new(), Vec::new());
        for file in reports(folder.path())? {
            let checks: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
            for check in &checks {
                let member = |name| check.get(name).and_then(Value::as_str).unwrap_or_default();
                match member("status") {
                    "SUCCESS" if member("id") != WIRE => successes += 1,
                    "FAILURE" | "WARNING" => {
                        failed.insert(member("id").to_owned());
                        faults.push(format!("{} ({})", member("id"), member("errorMessage")));
                    }
                    _ => {}
                }
            }
        }
        Ok(if !faults.is_empty() {
            Verdict::Fail { checks: failed, why: faults.join("; ") }
        } else if successes == 0 {
            // The suite counts this as a pass.
            Verdict::failed("nothing was checked".to_owned())
        } else if !output.status.success() {
            // The suite checks the client's exit status unless it expected a refusal.
            Verdict::failed(format!("{}: {}", output.status, last_words(&output.stderr)))
        } else {
            Verdict::Pass(successes)
        })
    }
}

/// Returns the check lists under a folder. Scenarios with a slash in their name have a folder of their own.
fn reports(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(reports(&path)?);
        } else if path.file_name().is_some_and(|name| name == "checks.json") {
            found.push(path);
        }
    }
    Ok(found)
}

fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join(" | ")
}
