//! Charts of selected rows.
//!
//! - `chart`: one bar chart as SVG

mod chart;

use crate::report::{Report, Row, number};
use crate::{kernels, side_by_side, waiting};
use anyhow::{Context, Result};
use chart::{Bar, Chart};
use std::path::Path;

/// Chart file.
pub(crate) struct Drawn {
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    pub(crate) svg: String,
}

/// Draws the charts of a report.
pub(crate) fn drawn(report: &Report) -> Vec<Drawn> {
    let trivial = "A fresh sandbox, 1 + 1 in it, the answer read";
    let kernels = "JavaScript that computes: eight kernels";
    let memory = "A run that waits for a call";
    let pictures = [
        ("fresh-run.svg", trivial, "Median time of one run; shorter is better; logarithmic scale", fresh(report)),
        (
            "kernels.svg",
            kernels,
            "Time beside that of quickjs-emscripten, fuel metered in ours; shorter is better; logarithmic scale",
            computing(report),
        ),
        (
            "memory.svg",
            memory,
            "Resident memory of each of many; shorter is better; logarithmic scale",
            memory_of_waiting(report),
        ),
    ];
    let draw = |(file, title, description, bars)| {
        let svg = Chart { title, description, bars }.svg()?;
        Some(Drawn { file, title, svg })
    };
    pictures.into_iter().filter_map(draw).collect()
}

/// Writes the charts, and prints their names.
pub(crate) fn write(report: &Report, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    for picture in drawn(report) {
        let path = folder.join(picture.file);
        std::fs::write(&path, picture.svg).with_context(|| format!("{} cannot be written", path.display()))?;
        eprintln!("written: {}", path.display());
    }
    Ok(())
}

fn fresh(report: &Report) -> Vec<Bar> {
    beside(report, side_by_side::is_trivial)
}

fn memory_of_waiting(report: &Report) -> Vec<Bar> {
    beside(report, |row| row.group == waiting::GROUP && row.what.starts_with(waiting::MEMORY))
}

/// Our best figure and each peer's, fastest first.
fn beside(report: &Report, is_wanted: impl Fn(&Row) -> bool) -> Vec<Bar> {
    let rows: Vec<&Row> = report.rows().iter().filter(|row| is_wanted(row)).collect();
    let ours = rows.iter().map(|row| (row.value, row.unit)).reduce(|best, row| if row.0 < best.0 { row } else { best });
    let peers = rows.iter().filter_map(|row| Some((row.peer.as_ref()?, row.unit)));
    let bar =
        |label: &str, value, unit, is_ours| Bar { label: label.into(), value, figure: readable(value, unit), is_ours };
    let mut bars: Vec<Bar> = peers.map(|(peer, unit)| bar(&peer.name, peer.value, unit, false)).collect();
    bars.extend(ours.map(|(value, unit)| bar("Agent Spaces", value, unit, true)));
    bars.sort_by(|a, b| a.value.total_cmp(&b.value));
    bars
}

/// Each kernel and their mean: our time relative to the peer's.
fn computing(report: &Report) -> Vec<Bar> {
    let rows = report.rows().iter().filter(|row| row.group == kernels::GROUP && !row.what.starts_with(kernels::LEAST));
    let rows = rows.filter(|row| row.peer.as_ref().is_some_and(|peer| peer.name == kernels::PEER));
    let mut bars: Vec<Bar> = rows
        .filter_map(|row| {
            let share = 100.0 / row.ratio?;
            let label = row.what.split(':').next().unwrap_or(&row.what).replace(" of the kernels", "");
            Some(Bar { label, value: share, figure: format!("{share:.0} %"), is_ours: true })
        })
        .collect();
    if !bars.is_empty() {
        bars.push(Bar { label: kernels::PEER.into(), value: 100.0, figure: "100 %".into(), is_ours: false });
    }
    bars
}

/// Formats a value in a readable unit.
fn readable(value: f64, unit: &str) -> String {
    match unit {
        "µs" if value >= 1e3 => format!("{} ms", number(value / 1e3)),
        "KiB" if value >= 1024.0 => format!("{} MiB", number(value / 1024.0)),
        _ => format!("{} {unit}", number(value)),
    }
}
