//! Models and tools that answer from records.

use crate::model::{LanguageModel, ModelTarget};
use crate::record::Record;
use crate::tools::{Instructions, ToolContext, ToolOutput, ToolRequest, Tools};
use crate::turns;
use agent_spaces_models::{Answer, ModelError, ModelErrorKind, Origin, Request, Tool, ToolResult, Watch};
use futures_util::future::BoxFuture;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;

/// Bytes of a result that fits into no context window.
const TOO_LARGE: usize = 8 << 20;

/// Gives recorded answers in their order. A target whose answer is not the next one fails, as it did then: so the answer
/// comes from the same model.
pub(super) struct RecordedModel(Mutex<VecDeque<(Origin, Answer)>>);

impl RecordedModel {
    /// The model of these records.
    pub(super) fn new(records: &[Record]) -> RecordedModel {
        let answer = |record: &Record| match record {
            Record::Answered { origin, answer, .. } => Some((origin.clone(), answer.clone())),
            _ => None,
        };
        RecordedModel(Mutex::new(records.iter().filter_map(answer).collect()))
    }

    fn next(&self, target: &ModelTarget) -> Result<Answer, ModelError> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_next =
            |(origin, _): &(Origin, Answer)| origin.provider == target.provider.name && origin.model == target.model;
        if answers.front().is_some_and(is_next)
            && let Some((_, answer)) = answers.pop_front()
        {
            return Ok(answer);
        }
        let message = match answers.front() {
            Some((origin, _)) => format!("the next recorded answer is of {}/{}", origin.provider, origin.model),
            None => "no more answers are recorded".to_owned(),
        };
        Err(ModelError::new(ModelErrorKind::Invalid, message))
    }
}

impl LanguageModel for RecordedModel {
    fn answer<'a>(
        &'a self,
        target: &'a ModelTarget,
        _request: &'a Request,
        _watch: &'a mut Watch<'_>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(std::future::ready(self.next(target)))
    }
}

/// Gives recorded results, in the order in which they came: results that are put aside are numbered in it.
pub(super) struct RecordedTools {
    list: Vec<Tool>,
    instructions: Vec<Instructions>,
    /// Results by the ids of their calls, with their places in the order.
    results: HashMap<String, (usize, ToolOutput)>,
    /// Number of results given so far.
    given: watch::Sender<usize>,
}

impl RecordedTools {
    /// The tools of these records.
    pub(super) fn new(tools: &dyn Tools, records: &[Record]) -> RecordedTools {
        let list = tools.list();
        let mut results = HashMap::new();
        let mut kept = None;
        for record in records {
            match record {
                Record::Kept { text, .. } => kept = Some(text.as_str()),
                Record::Returned { result } => {
                    let output = output_of(result, kept.take());
                    if is_of_a_tool(result, &list) {
                        let place = results.len();
                        results.entry(result.call_id.clone()).or_insert((place, output));
                    }
                }
                _ => {}
            }
        }
        RecordedTools { list, instructions: tools.instructions(), results, given: watch::Sender::new(0) }
    }
}

/// Returns true if a tool gave the result. Calls of other names and with broken arguments are answered by the loop itself.
fn is_of_a_tool(result: &ToolResult, list: &[Tool]) -> bool {
    let is_broken = result.is_error && turns::without_note(&result.text) == turns::broken_arguments(&result.name);
    !is_broken && list.iter().any(|tool| tool.name == result.name)
}

/// A result as its tool gave it, before the loop made it fit.
fn output_of(result: &ToolResult, kept: Option<&str>) -> ToolOutput {
    let text = kept.unwrap_or(&result.text);
    let text = if kept.is_none() && result.is_error && result.text == turns::TOO_LARGE {
        "0 ".repeat(TOO_LARGE / 2)
    } else {
        turns::without_note(text).to_owned()
    };
    ToolOutput { text, images: result.images.clone(), is_error: result.is_error, server: None }
}

impl Tools for RecordedTools {
    fn list(&self) -> Vec<Tool> {
        self.list.clone()
    }

    fn instructions(&self) -> Vec<Instructions> {
        self.instructions.clone()
    }

    fn call<'a>(&'a self, call: ToolRequest, _context: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let mut given = self.given.subscribe();
            let Some((place, output)) = self.results.get(&call.id) else {
                // It had no result when the recording ended: it comes after all that had one.
                let _ = given.wait_for(|given| *given >= self.results.len()).await;
                return ToolOutput::error("no result is recorded");
            };
            let _ = given.wait_for(|given| given >= place).await;
            self.given.send_modify(|given| *given += 1);
            output.clone()
        })
    }
}
