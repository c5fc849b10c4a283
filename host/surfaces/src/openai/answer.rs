//! A chat completion out of an answer.

use crate::ids;
use crate::parts::arguments_text;
use agent_spaces_agent::{Ending, Outcome};
use agent_spaces_models::{ToolCall, Usage};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Members that all chunks of a completion have.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) created: u64,
    /// The agent.
    pub(super) model: String,
}

impl Head {
    pub(super) fn new(model: &str) -> Head {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Head { id: ids::new("chatcmpl-"), created, model: model.to_owned() }
    }
}

/// Finish reason.
pub(super) fn finish_reason(ending: Ending) -> &'static str {
    match ending {
        Ending::CallerTools => "tool_calls",
        Ending::Length | Ending::ContextLimit => "length",
        _ => "stop",
    }
}

/// Tokens of all answers that the agent needed.
pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total(),
        "prompt_tokens_details": { "cached_tokens": usage.cached_tokens },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
    })
}

/// A call of the caller's tools.
pub(super) fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": arguments_text(&call.arguments) },
    })
}

/// Refusal of a model.
pub(super) fn refusal(outcome: &Outcome) -> Option<&str> {
    (outcome.ending == Ending::Refused).then(|| outcome.message.as_deref().unwrap_or("The model refused to answer."))
}

/// The whole completion.
pub(super) fn body(head: &Head, outcome: &Outcome) -> Value {
    let refusal = refusal(outcome);
    let content =
        Some(&outcome.text).filter(|text| refusal.is_none() && (!text.is_empty() || outcome.calls.is_empty()));
    let mut message = json!({ "role": "assistant", "content": content, "refusal": refusal });
    if !outcome.calls.is_empty() {
        message["tool_calls"] = outcome.calls.iter().map(call).collect();
    }
    let finish_reason = finish_reason(outcome.ending);
    json!({
        "id": head.id,
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason }],
        "usage": usage(&outcome.usage),
    })
}
