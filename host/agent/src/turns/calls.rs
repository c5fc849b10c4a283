//! Concurrent tool calls of one answer.

use super::Answering;
use crate::answering::AnswerContext;
use crate::definition::AgentLimits;
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::handles::Handles;
use crate::model::ModelTarget;
use crate::record::Record;
use crate::tools::{ToolContext, ToolOutput, ToolRequest};
use agent_spaces_models::{Arguments, Request, Tool, ToolCall, ToolResult};
use agent_spaces_pipeline::accounting::GuardEntry;
use agent_spaces_telemetry::spans;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;
use serde_json::Value;
use tracing::Instrument as _;

/// Result of a call that does not fit into the window, as programs that read transcripts know it.
pub(crate) const TOO_LARGE: &str = "(tool failed: context window budget exceeded)";

/// Tokens from which on a model may still choose a smaller part of a result.
const MIN_PART: u64 = 256;

/// Length in base64 of all images of a conversation. They are sent with every request, and providers refuse requests of
/// some 20 MB.
const MAX_IMAGES: usize = 16 << 20;

/// Names of tools that are listed for a model that called one that is not there.
const MAX_NAMES: usize = 50;

impl Answering<'_> {
    /// Makes calls and records their results. Returns true if the context window is full.
    pub(super) async fn call(&mut self, calls: &[ToolCall]) -> Result<bool, AgentError> {
        // From here on their effects may happen: a crash leaves them in doubt.
        self.record(Record::Calling { calls: calls.iter().map(|call| call.id.clone()).collect() }).await?;
        let (agent, context) = (self.agent, self.context);
        let tools = context.tools.list();
        let (limits, known) = (&agent.limits, &tools);
        // Boxed one by one: the compiler cannot tell of a closure over borrowed calls that its futures may change threads.
        let mut begun: Vec<BoxFuture<'_, (&ToolCall, ToolOutput)>> = Vec::with_capacity(calls.len());
        for call in calls {
            begun.push(Box::pin(async move { (call, make(context, limits, known, call).await) }));
        }
        let mut made = stream::iter(begun).buffer_unordered(limits.parallel_calls.max(1));
        let mut room = self.room();
        let mut image_room = MAX_IMAGES.saturating_sub(self.conversation.image_bytes());
        let mut is_full = false;
        while let Some((call, output)) = made.next().await {
            let (is_error, bytes) = (output.is_error, output.text.len());
            let (id, name) = (call.id.clone(), call.name.clone());
            (context.watcher)(AgentEvent::CallFinished { id, name, is_error, bytes });
            let output = self.repeats.note(call, with_images(output, &mut image_room));
            let (output, kept) = self.fit(call, output, &mut room, &mut is_full);
            if let Some((handle, text)) = kept {
                self.record(Record::Kept { handle, text }).await?;
            }
            let ToolOutput { text, images, is_error, .. } = output;
            let (call_id, name) = (call.id.clone(), call.name.clone());
            let result = ToolResult { call_id, name, text, images, is_error };
            self.record(Record::Returned { result }).await?;
        }
        Ok(is_full)
    }

    /// Tokens that results may have.
    fn room(&self) -> u64 {
        let target = self.asked_target();
        let request = Request { messages: self.conversation.messages().to_vec(), ..Request::default() };
        let guard = &self.context.guard;
        guard.room(target, self.max_output()).saturating_sub(guard.conversation(target, &request))
    }

    /// Bound on the tokens of the next answer.
    fn max_output(&self) -> Option<u32> {
        self.agent.sampling.max_output_tokens.or(self.asked_target().max_output_tokens)
    }

    fn asked_target(&self) -> &ModelTarget {
        &self.agent.models[self.target]
    }

    /// Makes a result fit into the window: as it is, as a handle, or as a failure.
    fn fit(
        &self,
        call: &ToolCall,
        output: ToolOutput,
        room: &mut u64,
        is_full: &mut bool,
    ) -> (ToolOutput, Option<(String, String)>) {
        let (guard, target) = (&self.context.guard, self.asked_target());
        let tokens = guard.result(target, &output);
        // One result may take half of what is left: others follow.
        let (output, kept) = match tokens > *room / 2 || output.text.len() > Handles::MAX_INLINE {
            true if call.name != Handles::TOOL => {
                let most = usize::try_from(*room / 4).unwrap_or(usize::MAX);
                self.context.handles.put_aside(output, most)
            }
            _ => (output, None),
        };
        // A part that a model reads of a result is its own choice: it can choose a smaller one.
        let output = match call.name == Handles::TOOL && tokens > *room && *room >= MIN_PART {
            true => ToolOutput::error(format!(
                "This part has some {tokens} tokens, and there is room for {room}. Read fewer bytes: set `length` to \
                 {room}, or look for a text with `find`."
            )),
            false => output,
        };
        let tokens = if kept.is_some() || call.name == Handles::TOOL { guard.result(target, &output) } else { tokens };
        if tokens <= *room {
            *room -= tokens;
            if let Some((handle, text)) = &kept {
                let text = format!("The result of {} has {} bytes and became {handle}.", call.name, text.len());
                (self.context.watcher)(AgentEvent::Note { text });
            }
            return (output, kept);
        }
        *is_full = true;
        guard.activated(target, "tool", "failed", *room);
        let message = format!("agent:context the result of {} has {tokens} tokens and {room} are left", call.name);
        tracing::warn!(target: "agent_spaces::agent", "{message}");
        let limit_tokens = guard.room(target, self.max_output());
        self.context.accounting.record_guard(GuardEntry {
            tool: &call.name,
            session: &self.context.session,
            caller: self.context.caller.as_deref(),
            projected_tokens: limit_tokens.saturating_sub(*room).saturating_add(tokens),
            limit_tokens,
            remaining_tokens: *room,
        });
        (self.context.watcher)(AgentEvent::Note { text: message });
        (ToolOutput::error(TOO_LARGE), None)
    }
}

/// Leaves out images for which the conversation has no room.
fn with_images(mut output: ToolOutput, room: &mut usize) -> ToolOutput {
    let all = output.images.len();
    output.images.retain(|image| {
        let is_kept = image.data.len() <= *room;
        if is_kept {
            *room -= image.data.len();
        }
        is_kept
    });
    let lost = all - output.images.len();
    if lost > 0 {
        output.text.push_str(&format!("\n({lost} of {all} images left out: the conversation has too many already)"));
    }
    output
}

/// Makes one call. Every failure is a result for the model.
async fn make(context: &AnswerContext, limits: &AgentLimits, tools: &[Tool], call: &ToolCall) -> ToolOutput {
    let shown = match &call.arguments {
        Arguments::Object(members) => Value::Object(members.clone()),
        Arguments::Broken(text) => Value::String(text.clone()),
    };
    let (id, name) = (call.id.clone(), call.name.clone());
    (context.watcher)(AgentEvent::CallStarted { id, name, arguments: shown });
    let arguments = match &call.arguments {
        Arguments::Object(members) => members.clone(),
        Arguments::Broken(_) => {
            return ToolOutput::error(broken_arguments(&call.name));
        }
    };
    if call.name == Handles::TOOL {
        return context.handles.read(&arguments);
    }
    if !tools.iter().any(|tool| tool.name == call.name) {
        return ToolOutput::error(unknown_tool(&call.name, tools));
    }
    let span = spans::agent_call(&call.name, &call.id);
    let request = ToolRequest { id: call.id.clone(), name: call.name.clone(), arguments };
    let bounds = ToolContext { cancel: context.cancel.child_token(), timeout: limits.tool_timeout };
    let called = context.tools.call(request, &bounds).instrument(span.clone());
    let output = match tokio::time::timeout(limits.tool_timeout, called).await {
        Ok(output) => output,
        Err(_) => {
            bounds.cancel.cancel();
            ToolOutput::error(format!("Tool execution timed out after {:?}.", limits.tool_timeout))
        }
    };
    spans::end_agent_call(&span, output.is_error);
    output
}

/// Result of a call whose arguments cannot be read.
pub(crate) fn broken_arguments(name: &str) -> String {
    format!("The arguments of {name} are not a JSON object. Call it again with a JSON object that fits its schema.")
}

fn unknown_tool(name: &str, tools: &[Tool]) -> String {
    let known: Vec<_> = tools.iter().take(MAX_NAMES).map(|tool| tool.name.as_str()).collect();
    let more = if tools.len() > MAX_NAMES { ", …" } else { "" };
    let name = agent_spaces_types::shown::Shown::line(name, 100);
    format!("There is no tool {name}. Tools: {}{more}.", known.join(", "))
}
