//! Rows as text, one by one and as a Markdown table.

use super::row::{Bound, Row};
use std::fmt::Write;

const HEAD: &str = "| what | ours | compared with | theirs | ratio | bound |\n|---|---:|---|---:|---:|---|\n";

/// Formats one row as a sentence.
pub(super) fn line(row: &Row) -> String {
    let mut text = format!("{}: {}", row.what, figure(row.value, row.p99, row.unit));
    if let Some(peer) = &row.peer {
        let _ = write!(text, "; {}: {}; {}", peer.name, figure(peer.value, peer.p99, row.unit), ratio(row));
    }
    if row.bound.is_some() {
        let _ = write!(text, " ({})", bound(row));
    }
    text
}

/// Formats all rows in Markdown, with the notes below.
pub(super) fn whole(rows: &[Row], notes: &[String]) -> String {
    let mut text = String::from(HEAD);
    for row in rows {
        let (name, theirs) = match &row.peer {
            Some(peer) => (peer.name.as_str(), figure(peer.value, peer.p99, row.unit)),
            None => ("", String::new()),
        };
        let ours = figure(row.value, row.p99, row.unit);
        let _ = writeln!(text, "| {} | {ours} | {name} | {theirs} | {} | {} |", row.what, ratio(row), bound(row));
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

fn figure(value: f64, p99: Option<f64>, unit: &str) -> String {
    let p99 = p99.map(|p99| format!(" (p99 {})", number(p99))).unwrap_or_default();
    format!("{} {unit}{p99}", number(value))
}

pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.01 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.5}"),
    }
}

fn ratio(row: &Row) -> String {
    let Some(ratio) = row.ratio else { return String::new() };
    let word = match row.is_speed {
        true if ratio >= 1.0 => " faster",
        true => " as fast",
        false => "",
    };
    format!("{}×{word}", number(ratio))
}

fn bound(row: &Row) -> String {
    let Some(bound) = row.bound else { return String::new() };
    let (sign, value) = match bound {
        Bound::AtMost(value) => ('≤', value),
        Bound::AtLeast(value) => ('≥', value),
    };
    format!("{sign} {} {}", number(value), if row.is_met == Some(true) { "ok" } else { "MISSED" })
}

#[cfg(test)]
mod tests {
    use crate::report::Report;

    #[test]
    fn the_table_marks_missed_bounds() {
        let mut report = Report::default();
        report.add("a run", 40.0, "µs").p99(72.0).faster_than("peer", 936.0).peer_p99(1200.0).at_least(50.0);
        report.add("other", 40.0, "µs").faster_than("peer", 10.0);
        report.add("runs", 24_000.0, "per second").more_is_better().at_least(10_000.0);
        report.note("skipped: other: it is not here");
        let table = report.table();
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| a run | 40.0 µs (p99 72.0) | peer | 936.0 µs (p99 1200) | 23.4× faster | ≥ 50.0 MISSED |",
                "| other | 40.0 µs | peer | 10.0 µs | 0.25× as fast |  |",
                "| runs | 24000 per second |  |  |  | ≥ 10000 ok |",
                "",
                "- skipped: other: it is not here",
            ]
        );
    }
}
