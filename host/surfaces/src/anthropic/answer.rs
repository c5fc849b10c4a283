//! A message out of an answer.

use crate::ids;
use agent_spaces_agent::{AgentSummary, Ending, Outcome};
use agent_spaces_models::{Arguments, ToolCall, Usage};
use serde_json::{Map, Value, json};

/// Time at which models are said to be made: clients want one, and agents have none.
const CREATED: &str = "2025-01-01T00:00:00Z";

/// A new id.
pub(super) fn new_id() -> String {
    ids::new("msg_")
}

/// Stop reason.
pub(super) fn stop_reason(ending: Ending) -> &'static str {
    match ending {
        Ending::CallerTools => "tool_use",
        Ending::Length | Ending::ContextLimit => "max_tokens",
        Ending::Refused => "refusal",
        _ => "end_turn",
    }
}

/// Tokens of all answers that the agent needed. Cached ones are counted apart.
pub(super) fn usage(usage: &Usage) -> Value {
    let cached = usage.cached_tokens.saturating_add(usage.cache_write_tokens);
    json!({
        "input_tokens": usage.input_tokens.saturating_sub(cached),
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    })
}

/// Arguments of a call. They are an object here, whatever the model wrote.
pub(super) fn input(call: &ToolCall) -> Value {
    match &call.arguments {
        Arguments::Object(object) => Value::Object(object.clone()),
        Arguments::Broken(_) => Value::Object(Map::new()),
    }
}

/// The text of an answer; what a model that refuses says.
pub(super) fn text(outcome: &Outcome) -> &str {
    match (&outcome.ending, &outcome.message) {
        (Ending::Refused, Some(message)) if outcome.text.is_empty() => message,
        _ => &outcome.text,
    }
}

/// The whole message.
pub(super) fn body(id: &str, model: &str, outcome: &Outcome) -> Value {
    let mut content = Vec::new();
    if !text(outcome).is_empty() {
        content.push(json!({ "type": "text", "text": text(outcome) }));
    }
    for call in &outcome.calls {
        content.push(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input(call) }));
    }
    json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason(outcome.ending),
        "stop_sequence": null,
        "usage": usage(&outcome.usage),
    })
}

/// One agent as a model.
pub(crate) fn model(agent: &AgentSummary) -> Value {
    json!({ "type": "model", "id": agent.name, "display_name": agent.name, "created_at": CREATED })
}

/// All agents as models.
pub(crate) fn models(agents: &[AgentSummary]) -> Value {
    json!({
        "data": agents.iter().map(model).collect::<Vec<_>>(),
        "has_more": false,
        "first_id": agents.first().map(|agent| &agent.name),
        "last_id": agents.last().map(|agent| &agent.name),
    })
}
