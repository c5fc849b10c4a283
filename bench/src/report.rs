//! The table and its JSON.

use serde_json::{Value, json};
use std::fmt::Write;

/// Rows in the order they were measured.
#[derive(Default)]
pub(crate) struct Report(Vec<Row>);

struct Row {
    what: String,
    value: f64,
    unit: &'static str,
    /// What it is compared with, and how many times that it is.
    peer: Option<(String, f64)>,
    /// What it should be at most.
    bound: Option<f64>,
}

impl Report {
    pub(crate) fn add(&mut self, what: &str, value: f64, unit: &'static str) -> &mut Report {
        self.0.push(Row { what: what.into(), value, unit, peer: None, bound: None });
        self
    }

    /// Compares the last row with a peer's figure in the same unit.
    pub(crate) fn against(&mut self, peer: &str, value: f64) -> &mut Report {
        if let Some(row) = self.0.last_mut() {
            row.peer = Some((peer.into(), row.value / value));
        }
        self
    }

    /// Says what the last row's ratio, or else its value, should be at most.
    pub(crate) fn at_most(&mut self, bound: f64) -> &mut Report {
        if let Some(row) = self.0.last_mut() {
            row.bound = Some(bound);
        }
        self
    }

    pub(crate) fn table(&self) -> String {
        let mut text = String::from("| what | value | compared with | ratio | bound |\n|---|---:|---|---:|---|\n");
        for row in &self.0 {
            let (peer, ratio) = match &row.peer {
                Some((peer, ratio)) => (peer.as_str(), format!("{}×", number(*ratio))),
                None => ("", String::new()),
            };
            let bound = row.bound.map(|bound| row.judge(bound)).unwrap_or_default();
            let _ =
                writeln!(text, "| {} | {} {} | {peer} | {ratio} | {bound} |", row.what, number(row.value), row.unit);
        }
        text
    }

    pub(crate) fn json(&self) -> String {
        let rows: Vec<Value> = self
            .0
            .iter()
            .map(|row| {
                let (peer, ratio) = row.peer.as_ref().map(|(peer, ratio)| (peer, ratio)).unzip();
                json!({ "what": row.what, "value": row.value, "unit": row.unit, "peer": peer, "ratio": ratio, "bound": row.bound })
            })
            .collect();
        format!("{}\n", json!({ "rows": rows }))
    }
}

impl Row {
    fn judge(&self, bound: f64) -> String {
        let measured = self.peer.as_ref().map_or(self.value, |(_, ratio)| *ratio);
        format!("≤ {} {}", number(bound), if measured <= bound { "ok" } else { "MISSED" })
    }
}

fn number(value: f64) -> String {
    match value {
        value if value >= 1000.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 0.01 => format!("{value:.2}"),
        value => format!("{value:.5}"),
    }
}
