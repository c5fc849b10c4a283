//! What was measured, and the ways it is told.
//!
//! - `row`: one figure, what it stands beside and what it should be
//! - `table`: the rows for people, one by one and all together
//! - `recorded`: the ratios and counts of an earlier run, and what got worse since
//! - `page`: the table inside a page of the documentation
//! - `chart`, `charts`: bars, and which rows are drawn

mod chart;
pub(crate) mod charts;
pub(crate) mod page;
pub(crate) mod recorded;
mod row;
mod table;

pub(crate) use row::{Better, Row};

use row::{Bound, Peer};
use serde_json::json;

/// Rows in the order they were measured, and what else is to be said.
#[derive(Default)]
pub(crate) struct Report {
    group: &'static str,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Report {
    /// The rows that follow belong to this group.
    pub(crate) fn begin(&mut self, group: &'static str) {
        self.group = group;
    }

    pub(crate) fn add(&mut self, what: &str, value: f64, unit: &'static str) -> Entry<'_> {
        let row = Row::new(self.group, what, value, unit);
        Entry { report: self, row }
    }

    /// Something that stands below the table, such as why a peer is not in it.
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

/// A row that is being described. It is told and kept when this is dropped, so that a long run shows what it has.
pub(crate) struct Entry<'a> {
    report: &'a mut Report,
    row: Row,
}

impl Entry<'_> {
    /// The slowest of a hundred, beside a value that is a median.
    pub(crate) fn p99(mut self, value: f64) -> Self {
        self.row.p99 = Some(value);
        self
    }

    /// Compares with a peer's figure in the same unit: how many times that it is. Less is better.
    pub(crate) fn against(mut self, peer: &str, value: f64) -> Self {
        self.row.ratio = Some(self.row.value / value);
        self.row.peer = Some(Peer { name: peer.into(), value, p99: None });
        self
    }

    /// Compares with a peer's time in the same unit: how many times it takes as long. More is better.
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

    /// More of it is better, as of runs in a second.
    pub(crate) fn more_is_better(mut self) -> Self {
        self.row.better = Better::More;
        self
    }

    /// What the ratio, or else the value, should be at most.
    pub(crate) fn at_most(self, bound: f64) -> Self {
        self.bound(Bound::AtMost(bound))
    }

    /// What the ratio, or else the value, should be at least.
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
