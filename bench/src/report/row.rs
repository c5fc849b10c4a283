//! One figure, its peer and its bound.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) group: &'static str,
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) p99: Option<f64>,
    pub(crate) unit: &'static str,
    pub(crate) peer: Option<Peer>,
    pub(crate) ratio: Option<f64>,
    /// The ratio is a speedup over the peer, rather than a multiple of the peer's figure.
    pub(crate) is_speed: bool,
    /// Better direction of the ratio, or else the value.
    pub(crate) better: Better,
    pub(crate) bound: Option<Bound>,
    pub(crate) is_met: Option<bool>,
}

/// Peer's figure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) p99: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Better {
    Less,
    More,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Row {
    pub(super) fn new(group: &'static str, what: &str, value: f64, unit: &'static str) -> Row {
        Row {
            group,
            what: what.into(),
            value,
            p99: None,
            unit,
            peer: None,
            ratio: None,
            is_speed: false,
            better: Better::Less,
            bound: None,
            is_met: None,
        }
    }

    /// Returns the bounded figure: the ratio, which is machine-independent, if there is one.
    pub(super) fn judged(&self) -> f64 {
        self.ratio.unwrap_or(self.value)
    }

    /// Returns the unique key of the row.
    pub(super) fn key(&self) -> String {
        match &self.peer {
            Some(peer) => format!("{} / {}", self.what, peer.name),
            None => self.what.clone(),
        }
    }
}

impl Bound {
    /// Checks the bound; NaN never meets it.
    pub(super) fn is_met(self, value: f64) -> bool {
        match self {
            Bound::AtMost(bound) => value <= bound,
            Bound::AtLeast(bound) => value >= bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::report::Report;

    #[test]
    fn a_bound_applies_to_the_ratio_in_its_direction() {
        let mut report = Report::default();
        report.add("a", 10.0, "µs").against("peer", 20.0).at_most(0.5);
        report.add("b", 10.0, "µs").against("peer", 19.0).at_most(0.5);
        report.add("c", 10.0, "µs").faster_than("peer", 150.0).at_least(15.0);
        report.add("d", 10.0, "µs").faster_than("peer", 149.0).at_least(15.0);
        report.add("e", 10.0, "µs").at_most(9.0);
        report.add("f", f64::NAN, "µs").at_most(9.0);
        let met: Vec<_> = report.rows().iter().map(|row| row.is_met).collect();
        assert_eq!(met, [Some(true), Some(false), Some(true), Some(false), Some(false), Some(false)]);
    }
}
