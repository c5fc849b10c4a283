//! Agent loop: ask a model, make its tool calls, ask again.
//!
//! - `calls`: concurrent tool calls of one answer
//! - `repeats`: detection of repeated calls
//! - `tests`: scripted models and tools

mod calls;
mod repeats;
#[cfg(test)]
mod tests;

pub(crate) use calls::{TOO_LARGE, broken_arguments};
pub(crate) use repeats::without_note;

use crate::answering::{AnswerContext, Ending, Outcome};
use crate::conversation::Conversation;
use crate::definition::{AgentDefinition, OutputFormat};
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::fallback::{self, NoAnswer};
use crate::handles::Handles;
use crate::output;
use crate::prompt::system_prompt;
use crate::record::Record;
use crate::spending::Spent;
use agent_spaces_models::{Answer, Finish, Message, Origin, OutputSchema, Part, Request, Tool, ToolCall, ToolChoice};
use repeats::Repeats;
use sha2::{Digest as _, Sha256};

/// Message of the last turn.
const CLOSING: &str = "This is the last turn: no tools are available any more. Conclude now. Answer with the results of \
                       the tools that you have, and say what is missing.";

/// Message after an answer that says nothing and calls nothing.
const EMPTY: &str = "Your answer has no text. Answer now, or say what keeps you from it.";

/// Maximum corrections of an answer that does not match its JSON Schema.
const MAX_CORRECTIONS: u32 = 2;

/// Answers a question: `asked` is appended to the conversation and recorded. With nothing to append, a question that was
/// interrupted goes on.
pub(crate) async fn answer(
    agent: &AgentDefinition,
    context: &AnswerContext,
    conversation: Conversation,
    asked: Vec<Message>,
) -> Outcome {
    let mut question = Answering {
        agent,
        context,
        conversation,
        target: 0,
        turns: 0,
        corrections: 0,
        is_closing: false,
        is_reminded: false,
        repeats: Repeats::default(),
        model: None,
        text: String::new(),
    };
    let end = tokio::select! {
        biased;
        () = context.cancel.cancelled() => End::of(Ending::Cancelled, "The question was cancelled."),
        () = tokio::time::sleep(agent.limits.time) => {
            End::of(Ending::Time, &format!("The question took longer than {:?}, the agent's limit.", agent.limits.time))
        }
        end = question.run(asked) => end.unwrap_or_else(|error| End::of(Ending::Store, &error.to_string())),
    };
    // Calls that are still being made belong to the question.
    context.cancel.cancel();
    question.finish(end).await
}

/// End of a question.
struct End {
    ending: Ending,
    message: Option<String>,
    value: Option<serde_json::Value>,
    calls: Vec<ToolCall>,
}

impl End {
    fn of(ending: Ending, message: &str) -> End {
        End { ending, message: Some(message.to_owned()), value: None, calls: Vec::new() }
    }
}

/// A question that is being answered.
struct Answering<'a> {
    agent: &'a AgentDefinition,
    context: &'a AnswerContext,
    conversation: Conversation,
    /// The model that is asked first: the one that answered last.
    target: usize,
    turns: u32,
    corrections: u32,
    /// True once the closing message was sent and the tools were removed.
    is_closing: bool,
    /// True once the model was asked again after an empty answer.
    is_reminded: bool,
    repeats: Repeats,
    model: Option<String>,
    /// Text of the last answer.
    text: String,
}

/// Reason for which the next turn is the last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    No,
    /// It is the last that the agent's limit allows.
    Turns,
    /// A result did not fit into the context window.
    Context,
    /// The model repeats the same calls.
    Repeats,
    /// The model corrects the form of its answer: the work is done.
    Correction,
}

impl Last {
    /// Returns true if the model is told to conclude.
    fn closes(self) -> bool {
        matches!(self, Last::Turns | Last::Context | Last::Repeats)
    }
}

impl Answering<'_> {
    async fn run(&mut self, asked: Vec<Message>) -> Result<End, AgentError> {
        let mut last = Last::No;
        if asked.is_empty() {
            if let Some(end) = self.go_on(&mut last).await? {
                return Ok(end);
            }
        } else {
            self.record(Record::Asked { messages: asked }).await?;
        }
        let tools = self.all_tools();
        let system = system_prompt(
            &self.agent.prompt,
            &self.context.tools.instructions(),
            self.context.system.as_deref(),
            &self.context.output,
        );
        loop {
            if let Some(message) = self.context.spending.exhausted() {
                return Ok(End::of(Ending::Budget, &message));
            }
            self.turns += 1;
            if last == Last::No && self.turns >= self.agent.limits.turns.max(1) {
                last = Last::Turns;
            }
            (self.context.watcher)(AgentEvent::Turn { number: self.turns });
            // Without tools there is nothing to take away.
            if last.closes() && !tools.is_empty() && !std::mem::replace(&mut self.is_closing, true) {
                self.record(Record::Notice { text: CLOSING.to_owned() }).await?;
            }
            let request = self.request(&system, &tools, last);
            let answer = match self.ask(&request).await? {
                Ok(answer) => answer,
                Err(end) => return Ok(end),
            };
            // What a refusal breaks off is not to be carried out.
            let is_refused = matches!(answer.finish, Finish::Refused(_));
            let calls = if is_refused { Vec::new() } else { self.conversation.last_calls() };
            if !calls.is_empty() && last == Last::No {
                if let Some(end) = self.make_calls(calls, &mut last).await? {
                    return Ok(end);
                }
                continue;
            }
            if answer.finish == Finish::Pause && last == Last::No {
                continue;
            }
            if let Some(end) = self.conclude(&answer.finish, &mut last).await? {
                return Ok(end);
            }
        }
    }

    /// Goes on with a question whose process ended. Calls of the caller's tools are still theirs to make.
    async fn go_on(&mut self, last: &mut Last) -> Result<Option<End>, AgentError> {
        for result in self.conversation.doubts() {
            self.record(Record::Returned { result }).await?;
        }
        if let Some((text, finish)) = self.conversation.unused_answer() {
            self.text = text;
            return if finish == Finish::Pause { Ok(None) } else { self.conclude(&finish, last).await };
        }
        let calls = self.conversation.unmade_calls();
        if calls.is_empty() { Ok(None) } else { self.make_calls(calls, last).await }
    }

    /// Tools of the agent and of the caller. A name of the caller's that the agent has too is the agent's.
    fn all_tools(&self) -> Vec<Tool> {
        let mut tools = self.context.tools.list();
        if !tools.is_empty() {
            tools.push(Handles::tool());
        }
        for tool in &self.context.caller_tools {
            if tools.iter().all(|known| known.name != tool.name) {
                tools.push(tool.clone());
            }
        }
        tools
    }

    fn request(&self, system: &str, tools: &[Tool], last: Last) -> Request {
        let sampling = &self.agent.sampling;
        let is_last = last != Last::No;
        let output = match &self.context.output {
            // Providers that follow a schema with all they write cannot call tools then.
            OutputFormat::Json(schema) if is_last || tools.is_empty() => {
                Some(OutputSchema { name: "answer".to_owned(), schema: schema.clone() })
            }
            _ => None,
        };
        Request {
            system: (!system.is_empty()).then(|| system.to_owned()),
            messages: self.conversation.messages().to_vec(),
            tools: if is_last { Vec::new() } else { tools.to_vec() },
            tool_choice: self.tool_choice(),
            parallel_tool_calls: sampling.parallel_tool_calls,
            max_output_tokens: sampling.max_output_tokens,
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            output,
            ..Request::default()
        }
    }

    /// The caller's wish holds for the first turn: a model that must call a tool in every turn never ends.
    fn tool_choice(&self) -> ToolChoice {
        if self.turns == 1 { self.context.tool_choice.clone() } else { ToolChoice::Auto }
    }

    /// Asks the models and records the answer.
    async fn ask(&mut self, request: &Request) -> Result<Result<Answer, End>, AgentError> {
        let (targets, attempts) = (&self.agent.models, self.agent.limits.attempts);
        let answered = match fallback::ask(targets, self.target, attempts, self.context, request).await {
            Ok(answered) => answered,
            Err(NoAnswer::ContextLimit(message)) => {
                let fix = "Start another session, or ask a model with a larger window.";
                return Ok(Err(End::of(
                    Ending::ContextLimit,
                    &format!("The context window is full: {message}. {fix}"),
                )));
            }
            Err(NoAnswer::Failed(message)) => {
                return Ok(Err(End::of(Ending::ModelFailed, &format!("No model answered: {message}"))));
            }
        };
        let fallback::Answered { target, answer, cost } = answered;
        self.target = target;
        let chosen = &targets[target];
        self.model = Some(chosen.label());
        let origin =
            Origin { provider: chosen.provider.name.clone(), model: chosen.model.clone(), api: chosen.provider.api };
        self.text = text_of(&answer);
        let record = Record::Answered { origin, request: digest(request), answer: answer.clone(), cost };
        self.record(record).await?;
        Ok(Ok(answer))
    }

    /// Makes the calls of an answer. Calls of the caller's tools end the question.
    async fn make_calls(&mut self, calls: Vec<ToolCall>, last: &mut Last) -> Result<Option<End>, AgentError> {
        let own = self.context.tools.list();
        let is_callers = |call: &ToolCall| {
            let named = |tool: &Tool| tool.name == call.name;
            call.name != Handles::TOOL && !own.iter().any(named) && self.context.caller_tools.iter().any(named)
        };
        let (callers, ours): (Vec<_>, Vec<_>) = calls.into_iter().partition(is_callers);
        if !ours.is_empty() {
            let is_full = self.call(&ours).await?;
            self.record_nested().await?;
            if is_full {
                *last = Last::Context;
            } else if self.repeats.are_endless() {
                let text = "The model repeats the same calls; its tools are taken away.".to_owned();
                (self.context.watcher)(AgentEvent::Note { text });
                *last = Last::Repeats;
            }
        }
        if callers.is_empty() {
            return Ok(None);
        }
        let end = End { ending: Ending::CallerTools, message: None, value: None, calls: callers };
        Ok(Some(end))
    }

    /// Ends the question with the last answer, or asks for another one (`None`): a correction without tools, or words
    /// instead of none.
    async fn conclude(&mut self, finish: &Finish, last: &mut Last) -> Result<Option<End>, AgentError> {
        let ended = match (finish, *last) {
            (Finish::Refused(reason), _) => {
                return Ok(Some(End::of(Ending::Refused, &format!("The model refused to answer. {reason}"))));
            }
            (Finish::Length, _) => {
                let message = "The answer is cut: it reached the bound of output tokens.";
                return Ok(Some(End::of(Ending::Length, message)));
            }
            (_, Last::Context) => {
                let message = "A result did not fit into the context window; the answer does without it.";
                End::of(Ending::ContextLimit, message)
            }
            (_, Last::Turns) if self.is_closing => {
                End::of(Ending::TurnLimit, &format!("All {} turns were used.", self.agent.limits.turns.max(1)))
            }
            (_, Last::Repeats) => {
                End::of(Ending::TurnLimit, "The model repeated the same calls, and its tools were taken away.")
            }
            (_, Last::No | Last::Turns | Last::Correction) => {
                End { ending: Ending::Done, message: None, value: None, calls: Vec::new() }
            }
        };
        // Models end without a word after long reasoning, or after a call that they failed to write.
        let is_empty = *last == Last::No && self.text.trim().is_empty();
        if is_empty && !std::mem::replace(&mut self.is_reminded, true) {
            self.record(Record::Notice { text: EMPTY.to_owned() }).await?;
            return Ok(None);
        }
        match output::read(&self.context.output, &self.text) {
            Ok(value) => Ok(Some(End { value, ..ended })),
            Err(fault) => {
                self.corrections += 1;
                if self.corrections > MAX_CORRECTIONS {
                    return Ok(Some(End::of(Ending::InvalidOutput, &fault)));
                }
                self.record(Record::Notice { text: format!("{fault} Answer again, with the JSON value alone.") })
                    .await?;
                if *last == Last::No {
                    *last = Last::Correction;
                }
                Ok(None)
            }
        }
    }

    /// Records a step, then adds it to the conversation.
    async fn record(&mut self, record: Record) -> Result<(), AgentError> {
        self.context.log.append(&record).await?;
        self.conversation.add(&record);
        Ok(())
    }

    /// Records the spending of agents that the calls so far asked.
    async fn record_nested(&mut self) -> Result<(), AgentError> {
        match self.context.spending.take_nested() {
            Some(Spent { tokens, cost }) => self.record(Record::Nested { tokens, cost }).await,
            None => Ok(()),
        }
    }

    async fn finish(mut self, end: End) -> Outcome {
        let End { mut ending, mut message, value, calls } = end;
        // A question that was cancelled can go on: its process may be about to end.
        let is_over = !matches!(ending, Ending::Cancelled | Ending::Store);
        let mut recorded = if ending == Ending::Store { Ok(()) } else { self.record_nested().await };
        if is_over && recorded.is_ok() {
            recorded = self.record(Record::Finished { ending: ending.code().to_owned() }).await;
        }
        if let Err(error) = recorded {
            (ending, message) = (Ending::Store, Some(error.to_string()));
        }
        let spending = &self.context.spending;
        Outcome {
            session: self.context.session.clone(),
            text: self.text,
            value,
            ending,
            message,
            calls,
            turns: self.turns,
            usage: spending.usage(),
            cost: spending.cost(),
            model: self.model,
        }
    }
}

fn text_of(answer: &Answer) -> String {
    answer
        .parts
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect()
}

/// Names a request, so that a replay finds its answer.
fn digest(request: &Request) -> String {
    let text = serde_json::to_vec(request).unwrap_or_default();
    data_encoding::HEXLOWER.encode(&Sha256::digest(&text))
}
