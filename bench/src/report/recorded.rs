//! Recorded ratios and counts of an earlier run, and regressions.
//!
//! Absolute times depend on the machine, so they are not recorded.

use super::{Better, Report, Row};
use crate::proc;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tolerance of ratios, both sides of which are times.
const RATIO_TOLERANCE: f64 = 0.25;
/// Tolerance of counts, which hardly vary.
const COUNT_TOLERANCE: f64 = 0.05;
/// The units of counts.
const COUNTS: [&str; 7] = ["units", "tokens", "turns", "KiB", "MiB", "mappings", "instructions"];

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recorded {
    machine: Machine,
    measured: BTreeMap<String, Figure>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Machine {
    cores: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Figure {
    group: String,
    #[serde(flatten)]
    kind: Kind,
    better: Better,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Ratio(f64),
    Count(f64),
}

/// Comparison of a new run with a recorded one.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Regressions beyond the tolerance.
    pub(crate) worse: Vec<String>,
    /// Notes that are no failures.
    pub(crate) said: Vec<String>,
}

impl Recorded {
    pub(crate) fn of(report: &Report) -> Recorded {
        let figures = report.rows().iter().filter_map(|row| Some((row.key(), Figure::of(row)?)));
        Recorded { machine: Machine { cores: proc::cores() }, measured: figures.collect() }
    }

    /// Compares with a new run of these groups.
    pub(crate) fn compare(&self, new: &Recorded, groups: &[&str]) -> Comparison {
        let mut comparison = Comparison::default();
        if self.machine != new.machine {
            let said = format!("recorded with {} cores, measured with {}", self.machine.cores, new.machine.cores);
            comparison.said.push(said);
        }
        for (key, old) in &self.measured {
            match new.measured.get(key) {
                Some(new) => comparison.worse.extend(old.worse(new).map(|how| format!("worse: {key}: {how}"))),
                None if groups.contains(&old.group.as_str()) => comparison.said.push(format!("missing: {key}")),
                None => {}
            }
        }
        let fresh = new.measured.keys().filter(|key| !self.measured.contains_key(*key));
        comparison.said.extend(fresh.map(|key| format!("new: {key}")));
        comparison
    }
}

impl Figure {
    fn of(row: &Row) -> Option<Figure> {
        let kind = match row.ratio {
            _ if COUNTS.contains(&row.unit) => Kind::Count(row.value),
            ratio => Kind::Ratio(ratio?),
        };
        // NaN cannot be serialized or compared: it counts as missing.
        row.judged().is_finite().then_some(())?;
        // The ratio of two counts has its own direction; a count's is that of all counts.
        let better = if matches!(kind, Kind::Count(_)) { Better::Less } else { row.better };
        Some(Figure { group: row.group.into(), kind, better })
    }

    /// Describes a regression beyond the tolerance.
    fn worse(&self, new: &Figure) -> Option<String> {
        let (old, tolerance) = match self.kind {
            Kind::Ratio(ratio) => (ratio, RATIO_TOLERANCE),
            Kind::Count(count) => (count, COUNT_TOLERANCE),
        };
        let (Kind::Ratio(new) | Kind::Count(new)) = new.kind;
        let is_within = match self.better {
            Better::Less => new <= old * (1.0 + tolerance),
            Better::More => new * (1.0 + tolerance) >= old,
        };
        let direction = if self.better == Better::Less { "more" } else { "less" };
        let number = super::table::number;
        (!is_within)
            .then(|| format!("{} was {}, and may be {:.0} % {direction}", number(new), number(old), tolerance * 100.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Recorded;
    use crate::report::Report;

    fn recorded(bare: f64, peer: f64, fuel: f64) -> Recorded {
        let mut report = Report::default();
        report.begin("fresh");
        report.add("run", 10.0, "µs").against("bare", 10.0 / bare);
        report.add("run", 10.0, "µs").faster_than("peer", 10.0 * peer);
        report.add("fuel", fuel, "units");
        report.add("time alone", 5.0, "µs");
        Recorded::of(&report)
    }

    #[test]
    fn regressions_beyond_the_tolerance_are_named() {
        let old = recorded(1.2, 20.0, 1000.0);
        for (new, worse) in [
            (recorded(1.2, 20.0, 1000.0), vec![]),
            (recorded(1.45, 16.5, 1045.0), vec![]),
            (recorded(0.1, 900.0, 10.0), vec![]),
            (recorded(1.6, 20.0, 1000.0), vec!["worse: run / bare: 1.60 was 1.20, and may be 25 % more"]),
            (recorded(1.2, 15.0, 1000.0), vec!["worse: run / peer: 15.0 was 20.0, and may be 25 % less"]),
            (recorded(1.2, 20.0, 1060.0), vec!["worse: fuel: 1060 was 1000, and may be 5 % more"]),
        ] {
            let comparison = old.compare(&new, &["fresh"]);
            assert_eq!(comparison.worse, worse);
            assert!(comparison.said.is_empty(), "{:?}", comparison.said);
        }
    }

    #[test]
    fn new_and_missing_rows_are_noted() {
        let (old, mut new) = (recorded(1.2, 20.0, 1000.0), recorded(1.2, 20.0, 1000.0));
        let fuel = new.measured.remove("fuel").expect("it was counted");
        new.measured.insert("other".into(), fuel);
        let comparison = old.compare(&new, &["fresh"]);
        assert_eq!((comparison.worse.len(), comparison.said), (0, vec!["missing: fuel".into(), "new: other".into()]));
        // A run of other groups says nothing of this one.
        assert_eq!(old.compare(&new, &["calls"]).said, ["new: other"]);
    }

    #[test]
    fn records_round_trip() {
        let text = serde_json::to_string(&recorded(1.2, 20.0, 1000.0)).expect("it is JSON");
        let read: Recorded = serde_json::from_str(&text).expect("it is read");
        assert_eq!(serde_json::to_string(&read).expect("it is JSON"), text);
        assert!(!text.contains("time alone"), "{text}");
    }
}
