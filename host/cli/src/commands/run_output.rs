//! Output of a run: its events while it runs, then its value or error, for people or as JSON.

use super::durable_run::DurableOutcome;
use super::failure::{Failure, with_setting};
use super::interrupt::Interrupt;
use super::{known_secrets, output, terminal};
use agent_spaces::{Code, Event, EventKind, NO_APPROVER, Program, RunError, RunReport, Usage};
use capability_gen::shown;
use serde_json::{Value, json};

/// Error code of a cancelled run.
const CANCELLED: Code = Code::RunCancelled;

/// Form of a run's output.
#[derive(Clone, Copy)]
pub(super) struct RunOutput {
    /// One JSON object with value or error is the last line.
    pub(super) json: bool,
    /// Each event is a line of JSON.
    pub(super) events: bool,
    /// Approvals are decided with `agent-spaces approvals`.
    pub(super) is_stored: bool,
}

/// Run that is over, or has left memory.
pub(super) struct EndedRun {
    pub(super) report: RunReport,
    /// The program, if it is known: it has warnings and code frames.
    pub(super) program: Option<Program>,
    /// State of a durable run.
    pub(super) durable: Option<DurableOutcome>,
}

impl RunOutput {
    /// Returns true if other programs read the output.
    fn is_data(self) -> bool {
        self.json || self.events
    }

    /// Calls `run` and prints its value or error. Returns the exit status.
    pub(super) fn print(self, run: impl FnOnce(Option<&Interrupt>) -> Result<EndedRun, Failure>) -> u8 {
        self.print_about(run, || json!({}))
    }

    /// Prints as [`RunOutput::print`] does. The JSON object of a script that did not run gets the members of `about`.
    pub(super) fn print_about(
        self,
        run: impl FnOnce(Option<&Interrupt>) -> Result<EndedRun, Failure>,
        about: impl FnOnce() -> Value,
    ) -> u8 {
        if !self.is_data() {
            return match run(None) {
                Ok(ended) => ended.show(),
                Err(failure) => failure.show(),
            };
        }
        let interrupt = Interrupt::watch(failed(&Failure::new(CANCELLED, "The run was cancelled", None)));
        match run(Some(&interrupt)) {
            Ok(ended) => {
                let (written, signalled) = interrupt.print_report();
                let Err(error) = &ended.report.outcome else { return written };
                signalled.filter(|_| error.code == CANCELLED).unwrap_or_else(|| error.exit_status())
            }
            Err(failure) => {
                let mut object = failed(&failure);
                for (name, value) in about().as_object().into_iter().flatten() {
                    object[name] = value.clone();
                }
                interrupt.print(&object);
                failure.error.exit_status()
            }
        }
    }

    /// Prints an event.
    pub(super) fn print_event(self, event: &Event) {
        if self.events {
            let mut event = event.clone();
            if let EventKind::RunFinished { error, .. } = &mut event.kind {
                *error = error.take().map(with_setting);
            }
            if let Ok(line) = serde_json::to_string(&event) {
                terminal::data(line);
            }
            return;
        }
        match &event.kind {
            EventKind::Console { level, text } if !self.json => terminal::console(*level, text),
            EventKind::ApprovalRequired { capability, function, function_id, approval_id, .. } if self.is_stored => {
                let name = terminal::clean_line(&format!("{capability}.{function} ({function_id})"));
                let id = terminal::clean_line(approval_id);
                terminal::note(shown!("{} waits for approval: agent-spaces approvals approve {}", name, id));
            }
            _ => {}
        }
    }
}

/// Returns the JSON object of a script that did not run.
fn failed(failure: &Failure) -> Value {
    json!({ "ok": false, "error": failure.shown(), "console": [], "usage": Usage::default(), "runId": null })
}

impl EndedRun {
    /// Returns its JSON object, which other programs parse.
    pub(super) fn json(&self) -> Value {
        let report = &self.report;
        let mut object = match &report.outcome {
            Ok(value) => json!({ "ok": true, "value": value }),
            Err(error) => json!({ "ok": false, "error": error }),
        };
        object["console"] = json!(report.console);
        object["usage"] = json!(report.usage);
        object["runId"] = json!(report.run_id);
        if let Some(durable) = &self.durable {
            durable.add_to(&mut object);
        }
        let redactor = known_secrets::redactor();
        let warnings = self.program.iter().flat_map(Program::warnings).map(|warning| {
            let mut error = RunError::of_script(warning.clone());
            error.message = redactor.text(&error.message).into_owned();
            error.hint = error.hint.map(|hint| redactor.text(&hint).into_owned());
            error
        });
        let warnings: Vec<RunError> = warnings.collect();
        if !warnings.is_empty() {
            object["warnings"] = json!(warnings);
        }
        object
    }

    /// Prints its value or error, and returns the exit status.
    fn show(&self) -> u8 {
        let mut written = 0;
        match &self.report.outcome {
            Ok(_) if !self.report.has_value => {}
            Ok(value) => written = output::print_line(&serde_json::to_string_pretty(value).unwrap_or_default()),
            Err(error) => self.show_error(error),
        }
        terminal::usage(&self.report.usage);
        self.report.outcome.as_ref().err().map_or(written, RunError::exit_status)
    }

    fn show_error(&self, error: &RunError) {
        if let Some(durable) = &self.durable
            && durable.show_parked()
        {
            return;
        }
        let frame = error.location.as_ref().and_then(|location| self.program.as_ref()?.code_frame(location));
        terminal::error(error, frame.as_deref());
        if error.code == Code::CallApprovalDenied && has_no_approver(error) {
            terminal::hint(
                "run it on a terminal, decide from another one with --approvals store, or approve it in advance with \
                 --approve and the function's name",
            );
        }
    }
}

/// Returns true if a call was refused because no person can be asked for approval.
fn has_no_approver(error: &RunError) -> bool {
    error.details.as_ref().is_some_and(|details| details["reason"] == NO_APPROVER)
}
