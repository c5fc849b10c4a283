//! Findings of a replay, as JSON and as text for people.

use crate::compare::{Comparison, Difference};
use crate::verify::Verification;
use agent_spaces_sandbox::run::RunReport;
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use serde_json::{Value, json};

/// Maximum length of a name or call within a line, and of a text of several lines, in characters.
const MAX_LINE: usize = 2_000;
const MAX_TEXT: usize = 64 << 10;

/// Findings of a replay.
#[derive(Clone, Debug)]
pub struct Findings {
    /// All of them.
    pub value: Value,
    /// The most important of them, for people.
    pub text: Shown,
    /// True if all is the same.
    pub is_same: bool,
}

impl Findings {
    /// Findings of an offline replay.
    pub fn of_verification(run: &str, replayed: &Verification) -> Findings {
        let fuel = replayed.compared_fuel;
        let mut value = json!({
            "runId": run,
            "ok": false,
            "events": replayed.events.len(),
            "comparedFuel": fuel,
            "diverged": replayed.diverged.as_ref().map(|it| {
                let (call, places) = (&replayed.next_call, &replayed.places);
                json!({ "expected": it.expected, "seen": it.seen, "nextCall": call, "places": places })
            }),
            "result": replayed.recorded,
        });
        if let Some(diverged) = &replayed.diverged {
            let (expected, seen) = (line(&diverged.expected), line(&diverged.seen));
            let mut text = shown!("{} diverged\n  recorded  {}\n  now       {}\n", line(run), expected, seen);
            if let Some(call) = &replayed.next_call {
                text.push(shown!("  next      {}\n", line(&call.to_string())));
            }
            if !replayed.places.is_empty() {
                text.push(shown!("  at        {}\n", line(&replayed.places.join(", "))));
            }
            return Findings { value, text, is_same: false };
        }
        let is_same = is_same_result(replayed.recorded.as_ref(), &replayed.report);
        let how = match (&replayed.recorded, is_same) {
            (None, _) => "repeated what is recorded; the run is not over",
            (Some(_), true) => "repeated all steps, to the same result",
            (Some(_), false) => "repeated all steps, to another result",
        };
        let mut text = shown!("{} {} ({} events)\n", line(run), how, replayed.events.len());
        if !fuel {
            text.push("fuel was not compared: the run was recorded with another version of wasmtime\n");
        }
        value["ok"] = json!(is_same);
        Findings { value, text, is_same }
    }

    /// Findings of a comparison with a changed script.
    pub fn of_comparison(run: &str, compared: &Comparison) -> Findings {
        let seen = result(&compared.report);
        let has_same_result = is_same_result(compared.recorded.as_ref(), &compared.report);
        let is_same = compared.difference.is_none() && has_same_result;
        let value = json!({
            "runId": run,
            "ok": is_same,
            "matchedCalls": compared.matched,
            "recordedCalls": compared.recorded_calls,
            "difference": compared.difference,
            "result": seen,
            "recordedResult": compared.recorded,
        });
        let (matched, all) = (compared.matched, compared.recorded_calls);
        let mut text = shown!("{}: {} of {} calls are the same\n", line(run), matched, all);
        match &compared.difference {
            Some(difference) => {
                let (expected, seen) = difference.words(&compared.report);
                text.push(shown!("  recorded  {}\n  changed   {}\n", line(&expected), line(&seen)));
                if !difference.places.is_empty() {
                    text.push(shown!("  at        {}\n", line(&difference.places.join(", "))));
                }
            }
            None if has_same_result => text.push("the result is the same\n"),
            None => {
                let shown = serde_json::to_string_pretty(&seen).unwrap_or_default();
                text.push(shown!("the result is another one:\n{}\n", Shown::text(&shown, MAX_TEXT)));
            }
        }
        Findings { value, text, is_same }
    }
}

impl Difference {
    /// Returns the recorded call and that of the changed script in words.
    pub fn words(&self, report: &RunReport) -> (String, String) {
        let expected = self.expected.as_ref().map_or_else(|| "no more calls".to_owned(), ToString::to_string);
        let seen = match (&self.seen, &report.outcome) {
            (Some(seen), _) => seen.to_string(),
            (None, Ok(_)) => "the end of the script".to_owned(),
            (None, Err(error)) => format!("{}: {}", error.code, error.message),
        };
        (expected, seen)
    }
}

/// Returns the value or the error of a run, as the journal records it.
fn result(report: &RunReport) -> Value {
    match &report.outcome {
        Ok(value) => json!({ "ok": value, "hasValue": report.has_value }),
        Err(error) => json!({ "error": error }),
    }
}

/// Returns true if a report has the recorded value, or the recorded error. A run that is not over has neither.
fn is_same_result(recorded: Option<&Value>, report: &RunReport) -> bool {
    recorded.is_none_or(|recorded| match &report.outcome {
        Ok(value) => recorded.get("ok") == Some(value),
        // The script's positions may have changed.
        Err(error) => {
            let recorded = &recorded["error"];
            recorded["code"] == *error.code && recorded["message"] == *error.message
        }
    })
}

/// Sanitizes untrusted text and keeps it on one line.
fn line(text: &str) -> Shown {
    Shown::line(text, MAX_LINE)
}
