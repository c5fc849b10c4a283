//! Execution of one test in one mode, in a fresh sandbox, and its verdict.

use crate::entry::{self, NAME};
use crate::front_matter::FrontMatter;
use crate::suite::{Mode, Suite, Test};
use agent_spaces::script::SYNTAX;
use agent_spaces::{Limits, PrepareError, RunOptions, Space};
use serde_json::Value;
use std::time::Duration;

/// Fuel limit of a test, so that the same tests end on every machine: three times the longest passing test, which
/// counts through all of `decodeURI`'s four-byte sequences.
const FUEL: u64 = 40_000_000_000;

/// Only for tests that wait: those that compute run out of fuel first, even where cores are slow.
const TIME: Duration = Duration::from_secs(300);

const MEMORY_BYTES: u64 = 256 << 20;

/// The code of an ending that the runner itself is to blame for.
pub(crate) const RUNNER: &str = "runner";

/// Outcome of a test.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Completed,
    /// `print` was called.
    Printed(String),
    /// With the name of the error's constructor.
    Threw(String, String),
    /// The host refused the test's modules before running, with a code.
    Refused(String, String),
    /// The run ended without the test's doing, with a code.
    Ended(String, String),
}

/// Runs a test; gives how it ended, and the fuel it took.
pub(crate) async fn execute(space: &Space, suite: &Suite, test: &Test, mode: Mode) -> (Ending, u64) {
    let script = entry::entry(suite, test, mode);
    let program = match space.prepare(NAME, &script) {
        Ok(program) => program,
        Err(PrepareError::Script(error)) => return (Ending::Refused(error.code.into(), error.message), 0),
        Err(PrepareError::Host(error)) => return (Ending::Ended(error.code().into(), error.to_string()), 0),
    };
    let limits = Limits { fuel: FUEL, time: TIME, memory: MEMORY_BYTES, ..Limits::default() };
    let report = program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await;
    let ending = match report.outcome {
        Ok(Value::String(line)) => read(&line),
        Ok(value) => Ending::Ended(RUNNER.into(), format!("the entry's value is {value}")),
        Err(error) => Ending::Ended(error.code, error.message),
    };
    (ending, report.usage.fuel)
}

/// Reads the line that `host.js` wrote.
fn read(line: &str) -> Ending {
    if let Some(text) = line.strip_prefix("printed ") {
        return Ending::Printed(text.to_owned());
    }
    match line.strip_prefix("threw ").and_then(|rest| rest.split_once('\t')) {
        Some((name, message)) => Ending::Threw(name.to_owned(), message.to_owned()),
        None if line == "completed" => Ending::Completed,
        None => Ending::Ended(RUNNER.into(), format!("the entry's value is {line:?}")),
    }
}

impl Ending {
    /// True if this is the expected outcome.
    pub(crate) fn is_pass(&self, front: &FrontMatter) -> bool {
        match (&front.negative, self) {
            (Some(negative), Ending::Threw(name, _)) => *name == negative.error,
            // The host parses every module before the engine does.
            (Some(negative), Ending::Refused(code, _)) => {
                *code == SYNTAX && negative.error == "SyntaxError" && negative.phase != "runtime"
            }
            (None, Ending::Completed) => !front.has_flag("async"),
            (None, Ending::Printed(text)) => text == "Test262:AsyncTestComplete",
            _ => false,
        }
    }

    /// The ending in one line.
    pub(crate) fn describe(&self) -> String {
        let line = match self {
            Ending::Completed => "completed without an error".to_owned(),
            Ending::Printed(text) => text.replacen("Test262:AsyncTestFailure:", "$DONE: ", 1),
            Ending::Threw(name, message) => format!("{name}: {message}"),
            Ending::Refused(code, message) => format!("refused, {code}: {message}"),
            Ending::Ended(code, message) => format!("{code}: {message}"),
        };
        line.chars().take(300).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
    }
}
