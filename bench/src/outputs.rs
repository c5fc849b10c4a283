//! Output files of the report, and the regression check.

use crate::arguments::Arguments;
use crate::charts;
use crate::groups::Group;
use crate::report::recorded::Recorded;
use crate::report::{Report, page};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Charts folder relative to the documentation page.
const CHARTS: &str = "charts";

/// Loads the record. Files are read first, so that a wrong one fails before minutes have passed.
pub(crate) fn prepare(arguments: &Arguments) -> Result<Option<Recorded>> {
    if let Some(path) = &arguments.docs {
        page::with(&read(path)?, "")?;
    }
    let Some(path) = &arguments.check else { return Ok(None) };
    let recorded = serde_json::from_str(&read(path)?);
    Ok(Some(recorded.with_context(|| format!("{} is not a recorded run", path.display()))?))
}

pub(crate) fn write(report: &Report, arguments: &Arguments) -> Result<()> {
    if let Some(path) = &arguments.json {
        written(path, &report.json())?;
    }
    if let Some(folder) = &arguments.charts {
        charts::write(report, folder)?;
    }
    if let Some(path) = &arguments.docs {
        written(path, &page::with(&read(path)?, &section(report))?)?;
    }
    if let Some(path) = &arguments.record {
        written(path, &format!("{:#}\n", serde_json::to_value(Recorded::of(report))?))?;
    }
    Ok(())
}

/// Prints changes; fails on regressions.
pub(crate) fn check(report: &Report, recorded: Option<&Recorded>, groups: &[&Group]) -> ExitCode {
    let Some(recorded) = recorded else { return ExitCode::SUCCESS };
    let groups: Vec<&str> = groups.iter().map(|group| group.name).collect();
    let comparison = recorded.compare(&Recorded::of(report), &groups);
    for line in comparison.said.iter().chain(&comparison.worse) {
        eprintln!("{line}");
    }
    if comparison.worse.is_empty() {
        eprintln!("nothing is worse than recorded");
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}

/// Section of the page: the charts, then the table.
fn section(report: &Report) -> String {
    let mut text = String::new();
    for picture in charts::drawn(report) {
        let _ = writeln!(text, "![{}]({CHARTS}/{})\n", picture.title, picture.file);
    }
    text + report.table().trim_end()
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

fn written(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
