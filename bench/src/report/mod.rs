//! Report of measurements and its output formats.
//!
//! - `row`: one figure, its peer and its bound
//! - `table`: rows as text and as a Markdown table
//! - `recorded`: ratios and counts of an earlier run, and regressions
//! - `page`: the table inside a documentation page

pub(crate) mod page;
pub(crate) mod recorded;
mod row;
mod table;

pub(crate) use row::{Better, Row};
pub(crate) use table::number;

use row::{Bound, Peer};
use serde_json::json;

/// Rows in order of measurement, and notes.
#[derive(Default)]
pub(crate) struct Report {
    group: &'static str,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Report {
    /// Starts a group: following rows belong to it.
    pub(crate) fn begin(&mut self, group: &'static str) {
        self.group = group;
    }

    pub(crate) fn add(&mut self, what: &str, value: f64, unit: &'static str) -> Entry<'_> {
        let row = Row::new(self.group, what, value, unit);
        Entry { report: self, row }
    }

    /// Adds a note below the table, such as why a peer is missing.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        eprintln!("{text}");
        self.notes.push(text);
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(crate) fn table(&self) -> String {
        table::whole(&self.rows, &self.notes)
    }

    pub(crate) fn json(&self) -> String {
        format!("{:#}\n", json!({ "rows": self.rows, "notes": self.notes }))
    }
}

/// Builder of a row. Dropping it prints and stores the row, so that a long run shows progress.
pub(crate) struct Entry<'a> {
    report: &'a mut Report,
    row: Row,
}

impl Entry<'_> {
    /// Sets the 99th percentile, beside a median.
    pub(crate) fn p99(mut self, value: f64) -> Self {
        self.row.p99 = Some(value);
        self
    }

    /// Sets the ratio to a peer's figure in the same unit. Less is better.
    pub(crate) fn against(mut self, peer: &str, value: f64) -> Self {
        self.row.ratio = Some(self.row.value / value);
        self.row.peer = Some(Peer { name: peer.into(), value, p99: None });
        self
    }

    /// Sets the speedup over a peer's time in the same unit. More is better.
    pub(crate) fn faster_than(mut self, peer: &str, value: f64) -> Self {
        self.row.ratio = Some(value / self.row.value);
        self.row.peer = Some(Peer { name: peer.into(), value, p99: None });
        self.row.better = Better::More;
        self.row.is_speed = true;
        self
    }

    pub(crate) fn peer_p99(mut self, value: f64) -> Self {
        if let Some(peer) = &mut self.row.peer {
            peer.p99 = Some(value);
        }
        self
    }

    /// Marks that more is better, as for runs per second.
    pub(crate) fn more_is_better(mut self) -> Self {
        self.row.better = Better::More;
        self
    }

    /// Sets an upper bound on the ratio, or else the value.
    pub(crate) fn at_most(self, bound: f64) -> Self {
        self.bound(Bound::AtMost(bound))
    }

    /// Sets a lower bound on the ratio, or else the value.
    pub(crate) fn at_least(self, bound: f64) -> Self {
        self.bound(Bound::AtLeast(bound))
    }

    fn bound(mut self, bound: Bound) -> Self {
        self.row.is_met = Some(bound.is_met(self.row.judged()));
        self.row.bound = Some(bound);
        self
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        eprintln!("{}", table::line(&self.row));
        self.report.rows.push(self.row.clone());
    }
}
