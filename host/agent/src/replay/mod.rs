//! Replay of a session's questions from the recorded answers and results.
//!
//! The loop runs as it did. Its model gives the recorded answers in their order, its tools give the recorded results, and
//! its log compares each step with the recorded one. A model sees a request after it was fitted to its target, so answers
//! cannot be found by the digest of the request; the digest is compared when the answer is recorded. An answer to another
//! request is reported, and the replay goes on; any other difference ends the replay of its question.
//!
//! The agent's definition and the list of its tools are not recorded, and have to be the same now. A question that went on
//! after a crash counts its turns anew there, which the replay does not.
//!
//! - `check`: compares steps
//! - `recorded`: models and tools that answer from records

mod check;
mod recorded;
#[cfg(test)]
mod tests;

use crate::answering::AnswerContext;
use crate::conversation::Conversation;
use crate::definition::{AgentDefinition, Budgets};
use crate::event::unwatched;
use crate::guard::Guard;
use crate::handles::Handles;
use crate::record::{QuestionSettings, Record};
use crate::spending::{Day, Spending, Spent};
use crate::tools::Tools;
use crate::turns;
use agent_spaces_pipeline::accounting::Accounting;
use check::Check;
use recorded::{RecordedModel, RecordedTools};
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Divergences that are reported.
const MAX_DIVERGENCES: usize = 100;

/// Result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Questions of the session.
    pub questions: usize,
    /// Steps that were repeated as they are recorded.
    pub records: usize,
    /// Divergences from the recording; the first hundred.
    pub divergences: Vec<Divergence>,
}

/// A difference between a recording and its replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Divergence {
    /// Number of the question in its session, from 1.
    pub question: usize,
    /// Number of the record in its session, from 1.
    pub record: usize,
    /// Description of the difference.
    pub message: String,
}

/// Replays all questions of a session. `tools` is asked for its list and its instructions alone.
pub(crate) async fn replay(agent: &AgentDefinition, tools: &dyn Tools, records: &[Record]) -> Replayed {
    let mut replayed = Replayed::default();
    for range in questions(records) {
        replayed.questions += 1;
        let check = Arc::new(Check::new(replayed.questions, range.start, &records[range.clone()]));
        answer_again(agent, tools, records, range, check.clone()).await;
        let (repeated, divergences) = check.found();
        replayed.records += repeated;
        let room = MAX_DIVERGENCES.saturating_sub(replayed.divergences.len());
        replayed.divergences.extend(divergences.into_iter().take(room));
    }
    replayed
}

/// Record ranges of the questions: each from its messages to the next ones.
fn questions(records: &[Record]) -> Vec<Range<usize>> {
    let begins = |record: &Record| matches!(record, Record::Asked { .. });
    let starts: Vec<usize> = (0..records.len()).filter(|at| begins(&records[*at])).collect();
    let end = |number: usize| {
        let mut end = starts.get(number + 1).copied().unwrap_or(records.len());
        // Settings belong to the question after them.
        while end > 0 && matches!(records[end - 1], Record::Settings { .. }) {
            end -= 1;
        }
        end
    };
    starts.iter().enumerate().map(|(number, start)| *start..end(number)).collect()
}

async fn answer_again(
    agent: &AgentDefinition,
    tools: &dyn Tools,
    records: &[Record],
    range: Range<usize>,
    check: Arc<Check>,
) {
    let (before, question) = (&records[..range.start], &records[range]);
    let Some(Record::Asked { messages }) = question.first() else { return };
    let settings = QuestionSettings::last_of(before);
    // What it cost then is recorded; budgets of then are not needed to find that out.
    let agent = AgentDefinition { budgets: Budgets::default(), ..settings.applied_to(agent) };
    let handles = Handles::default();
    let conversation = Conversation::of(before.to_vec(), &handles);
    let context = AnswerContext {
        models: Arc::new(RecordedModel::new(question)),
        tools: Arc::new(RecordedTools::new(tools, question)),
        output: settings.output_of(&agent),
        caller_tools: settings.caller_tools,
        tool_choice: settings.tool_choice,
        system: settings.system,
        log: check.clone(),
        handles,
        guard: Guard::new(None),
        spending: Spending::new(agent.budgets, Spent::default(), Day::default(), None),
        accounting: Accounting::default(),
        caller: None,
        watcher: unwatched(),
        cancel: CancellationToken::new(),
        session: String::new(),
    };
    let outcome = turns::answer(&agent, &context, conversation, messages.clone()).await;
    check.ended(&outcome);
}
