//! Entries that a request asks for, and their order.

use crate::audit::{AuditLine, AuditPosition};
use crate::pages::ListOrder;
use crate::problem::Problem;
use crate::query::Query;
use crate::time;
use serde_json::Value;

/// Query parameters of a search.
pub(super) const PARAMETERS: [&str; 7] = ["type", "caller", "run", "from", "until", "q", "order"];

/// Most types, and the longest text of a parameter.
const MAX_TYPES: usize = 50;
const MAX_TEXT: usize = 500;

/// Time by which a line may be older than one before it: clocks are set back now and then.
const CLOCK_SLACK_MS: i64 = 3_600_000;

/// Search in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    pub(super) order: ListOrder,
    /// Types of events, or kinds of actions; all if empty.
    types: Vec<String>,
    /// Name of the caller; empty for entries without one.
    caller: Option<String>,
    run: Option<String>,
    /// First time, and the first time after the last.
    from: Option<i64>,
    until: Option<i64>,
    /// Text in lower case.
    text: Option<String>,
}

impl Search {
    /// Reads the [`PARAMETERS`].
    pub(super) fn read(query: &Query) -> Result<Search, Problem> {
        let types: Vec<String> = query.all("type").map(str::to_owned).collect();
        if types.len() > MAX_TYPES {
            return Err(Problem::parameter("type", format!("given more than {MAX_TYPES} times")));
        }
        Ok(Search {
            order: query.choice("order")?.unwrap_or_default(),
            types,
            caller: short(query, "caller")?,
            run: short(query, "run")?,
            from: query.time("from")?,
            until: query.time("until")?,
            text: short(query, "q")?.filter(|text| !text.is_empty()).map(|text| text.to_lowercase()),
        })
    }

    /// Returns true if a line is one of those that are asked for.
    pub(super) fn finds(&self, line: &AuditLine) -> bool {
        let member = |name: &str| line.entry.get(name).and_then(Value::as_str);
        let is_one = |kind: Option<&str>| kind.is_some_and(|kind| self.types.iter().any(|wanted| wanted == kind));
        let has_type = self.types.is_empty() || is_one(member("type")) || is_one(member("action"));
        let has_caller = self.caller.as_deref().is_none_or(|caller| member("caller").unwrap_or_default() == caller);
        let has_run = self.run.as_deref().is_none_or(|run| member("runId") == Some(run));
        has_type && has_caller && has_run && self.is_in_time(line) && self.has_text(line)
    }

    fn is_in_time(&self, line: &AuditLine) -> bool {
        if self.from.is_none() && self.until.is_none() {
            return true;
        }
        // A line whose time is damaged has none.
        time::parse(&line.time)
            .is_some_and(|at| self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at < until))
    }

    fn has_text(&self, line: &AuditLine) -> bool {
        self.text.as_deref().is_none_or(|text| line.entry.to_string().to_lowercase().contains(text))
    }

    /// Returns true if no line after this one, in the order of the search, is in its time.
    pub(super) fn is_over(&self, line: &AuditLine) -> bool {
        let limit = match self.order {
            ListOrder::Oldest => self.until,
            ListOrder::Newest => self.from,
        };
        let Some((at, limit)) = time::parse(&line.time).zip(limit) else { return false };
        match self.order {
            ListOrder::Oldest => at >= limit.saturating_add(CLOCK_SLACK_MS),
            ListOrder::Newest => at < limit.saturating_sub(CLOCK_SLACK_MS),
        }
    }

    /// Returns the position from which the lines after this one are read.
    pub(super) fn after(&self, line: &AuditLine) -> AuditPosition {
        match self.order {
            ListOrder::Oldest => line.after,
            ListOrder::Newest => line.before,
        }
    }
}

/// Reads a text of bounded length.
fn short(query: &Query, name: &str) -> Result<Option<String>, Problem> {
    let text = query.text(name)?;
    if text.is_some_and(|text| text.len() > MAX_TEXT) {
        return Err(Problem::parameter(name, format!("longer than {MAX_TEXT} bytes")));
    }
    Ok(text.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::{PARAMETERS, Search};
    use crate::audit::{AuditLine, AuditPosition};
    use crate::pages::ListOrder;
    use crate::query::Query;
    use serde_json::{Value, json};

    fn search(query: &str) -> Search {
        Search::read(&Query::parse(Some(query), &PARAMETERS).unwrap()).unwrap()
    }

    fn line(time: &str, entry: Value) -> AuditLine {
        let at = |offset| AuditPosition { file: 1, offset };
        AuditLine { seq: 1, time: time.to_owned(), entry, before: at(0), after: at(9) }
    }

    #[test]
    fn every_filter_must_pass() {
        let run = line(
            "2026-01-31T12:00:00Z",
            json!({ "type": "runStarted", "runId": "run_1", "caller": "ann", "space": "Support" }),
        );
        let passing = [
            "",
            "type=runStarted",
            "type=other&type=runStarted",
            "caller=ann&run=run_1",
            "q=SUPPORT",
            "from=2026-01-31T12:00:00Z&until=2026-01-31T12:00:01Z",
        ];
        for query in passing {
            assert!(search(query).finds(&run), "{query}");
        }
        let failing = [
            "type=runFinished",
            "caller=an",
            "caller=",
            "run=run_2",
            "q=sales",
            "type=runStarted&q=sales",
            "from=2026-01-31T12:00:01Z",
            "until=2026-01-31T12:00:00Z",
        ];
        for query in failing {
            assert!(!search(query).finds(&run), "{query}");
        }
        let action = line("", json!({ "type": "apiAction", "action": "run.created", "operator": true }));
        assert!(search("type=run.created&caller=").finds(&action) && search("type=apiAction").finds(&action));
        assert!(!search("from=2026-01-31T12:00:00Z").finds(&action), "a line without a time");
    }

    #[test]
    fn a_search_ends_behind_its_time() {
        let at = |time: &str| line(time, json!({}));
        let newest = search("order=newest&from=2026-01-31T12:00:00Z");
        assert_eq!(newest.order, ListOrder::Newest);
        assert!(newest.is_over(&at("2026-01-31T10:59:59Z")));
        assert!(!newest.is_over(&at("2026-01-31T11:30:00Z")), "a clock that was set back");
        assert!(!newest.is_over(&at("2026-02-01T00:00:00Z")) && !newest.is_over(&at("damaged")));
        let oldest = search("until=2026-01-31T12:00:00Z&from=2026-01-01T00:00:00Z");
        assert!(oldest.is_over(&at("2026-01-31T13:00:00Z")) && !oldest.is_over(&at("2025-01-01T00:00:00Z")));
        assert_eq!((oldest.after(&at("")).offset, newest.after(&at("")).offset), (9, 0));
    }

    #[test]
    fn wrong_parameters_are_refused() {
        let long = format!("q={}", "x".repeat(501));
        let types = "type=a&".repeat(51);
        for query in ["order=up", "from=yesterday", "caller=a&caller=b", long.as_str(), types.as_str()] {
            assert!(Search::read(&Query::parse(Some(query), &PARAMETERS).unwrap()).is_err(), "{query}");
        }
    }
}
