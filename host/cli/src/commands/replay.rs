//! `agent-spaces replay`

use super::failure::Failure;
use super::journal::OpenJournal;
use super::script_file::ScriptFile;
use super::{folders, output, terminal};
use agent_spaces::durable::compare::{ChangedScript, CompareError, Comparison, Difference, compare};
use agent_spaces::durable::verify::{Verification, verify};
use agent_spaces::{Code, PrepareError, RunReport, Shown};
use capability_gen::shown;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Replay a durable run offline: execute it again with its recorded answers, and compare every step.
///
/// No call leaves this machine, and the journal is not changed. With --script, a changed script gets the recorded answers
/// as long as it makes the same calls, in order; it can import the modules that the recorded script imported.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces replay 7f3c
  agent-spaces replay 7f3c --json > events.jsonl
  agent-spaces replay 7f3c --script fixed.ts

Exit status: 0 the same, 1 it differs, 2 bad usage or unknown run, 5 the journal cannot be read.")]
pub(super) struct ReplayCommand {
    /// The run, or the beginning of its id
    run: String,

    /// Changed script to compare with the recorded run
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Print the repeated events as lines of JSON, then one object with the result of the comparison
    #[arg(long)]
    json: bool,
}

/// Result of a comparison: JSON, text, and true if all is the same.
type Findings = (Value, Shown, bool);

impl ReplayCommand {
    pub(super) fn execute(self) -> u8 {
        let replayed = match &self.script {
            None => self.verify(),
            Some(file) => self.compare(file.clone()),
        };
        match replayed {
            Ok((value, text, is_same)) => {
                let written = if self.json { output::print_line(&value) } else { output::print(&text) };
                written.max(u8::from(!is_same))
            }
            Err(failure) => failure.report(self.json),
        }
    }

    fn verify(&self) -> Result<Findings, Failure> {
        let journal = OpenJournal::open()?;
        let id = journal.find(&self.run)?.id;
        let engine = folders::engine(true)?;
        let replayed = journal.wait(verify(&journal.store, &id, &engine))?;
        if self.json {
            replayed.events.iter().for_each(|event| terminal::data(event.clone()));
        }
        Ok(verified(&id, &replayed))
    }

    fn compare(&self, file: PathBuf) -> Result<Findings, Failure> {
        let script = ScriptFile::read(&file, None)?;
        let workspace = script.workspace()?;
        let journal = OpenJournal::open()?;
        let id = journal.find(&self.run)?.id;
        let engine = folders::engine(true)?;
        let changed = ChangedScript { name: &script.name, source: &script.source, workspace: workspace.as_ref() };
        let compared = journal.wait(async {
            compare(&journal.store, &id, &engine, changed).await.map_err(|error| match error {
                CompareError::Run(error) => error.into(),
                CompareError::Script(error) => {
                    Failure::refused(PrepareError::Script(error), &script.name, &script.source)
                }
                error => Failure::new(Code::HostJournal, error.to_string(), None),
            })
        })?;
        Ok(differences(&id, &compared))
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

fn verified(id: &str, replayed: &Verification) -> Findings {
    let run = terminal::clean_line(id);
    let fuel = replayed.compared_fuel;
    let mut value = json!({
        "runId": id,
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
        let (expected, seen) = (terminal::clean_line(&diverged.expected), terminal::clean_line(&diverged.seen));
        let mut text = shown!("{} diverged\n  recorded  {}\n  now       {}\n", run, expected, seen);
        if let Some(call) = &replayed.next_call {
            text.push(shown!("  next      {}\n", terminal::clean_line(&call.to_string())));
        }
        if !replayed.places.is_empty() {
            text.push(shown!("  at        {}\n", terminal::clean_line(&replayed.places.join(", "))));
        }
        return (value, text, false);
    }
    let is_same = is_same_result(replayed.recorded.as_ref(), &replayed.report);
    let how = match (&replayed.recorded, is_same) {
        (None, _) => "repeated what is recorded; the run is not over",
        (Some(_), true) => "repeated all steps, to the same result",
        (Some(_), false) => "repeated all steps, to another result",
    };
    let mut text = shown!("{} {} ({} events)\n", run, how, replayed.events.len());
    if !fuel {
        text.push("fuel was not compared: another version of wasmtime metered it\n");
    }
    value["ok"] = json!(is_same);
    (value, text, is_same)
}

fn differences(id: &str, compared: &Comparison) -> Findings {
    let seen = result(&compared.report);
    let has_same_result = is_same_result(compared.recorded.as_ref(), &compared.report);
    let is_same = compared.difference.is_none() && has_same_result;
    let value = json!({
        "runId": id,
        "ok": is_same,
        "matchedCalls": compared.matched,
        "recordedCalls": compared.recorded_calls,
        "difference": compared.difference,
        "result": seen,
        "recordedResult": compared.recorded,
    });
    let (matched, all) = (compared.matched, compared.recorded_calls);
    let mut text = shown!("{}: {} of {} calls are the same\n", terminal::clean_line(id), matched, all);
    match &compared.difference {
        Some(difference) => text.push(described(difference, &compared.report)),
        None if has_same_result => text.push("the result is the same\n"),
        None => {
            let shown = serde_json::to_string_pretty(&seen).unwrap_or_default();
            text.push(shown!("the result is another one:\n{}\n", terminal::clean(&shown)));
        }
    }
    (value, text, is_same)
}

/// Describes the first call that differs.
fn described(difference: &Difference, report: &RunReport) -> Shown {
    let line = terminal::clean_line;
    let expected = difference.expected.as_ref().map_or_else(|| "no more calls".to_owned(), ToString::to_string);
    let seen = match (&difference.seen, &report.outcome) {
        (Some(seen), _) => seen.to_string(),
        (None, Ok(_)) => "the end of the script".to_owned(),
        (None, Err(error)) => format!("{}: {}", error.code, error.message),
    };
    let mut text = shown!("  recorded  {}\n  changed   {}\n", line(&expected), line(&seen));
    if !difference.places.is_empty() {
        text.push(shown!("  at        {}\n", line(&difference.places.join(", "))));
    }
    text
}
