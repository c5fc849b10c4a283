//! Answers and events as JSON.

use super::problem;
use crate::asking::Ended;
use crate::stream::{Encoder, add_event};
use agent_spaces_agent::{AgentEvent, Ending, Outcome};
use serde_json::{Value, json};

/// An answer, as the command prints it with `--json`.
pub(super) fn body(agent: &str, outcome: &Outcome) -> Value {
    let mut answer = json!({
        "ok": outcome.ending == Ending::Done,
        "agent": agent,
        "text": outcome.text,
        "ending": outcome.ending.code(),
        "turns": outcome.turns,
        "usage": outcome.usage,
        "model": outcome.model,
        "session": (!outcome.session.is_empty()).then_some(&outcome.session),
    });
    let optional = [
        ("value", outcome.value.clone()),
        ("message", outcome.message.clone().map(Value::String)),
        ("cost", outcome.cost.map(Value::from)),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            answer[key] = value;
        }
    }
    answer
}

/// Writes the events of a question as they are; the last is `answer` or `error`.
pub(super) struct AgentEvents {
    agent: String,
}

impl AgentEvents {
    pub(super) fn new(agent: &str) -> AgentEvents {
        AgentEvents { agent: agent.to_owned() }
    }
}

impl Encoder for AgentEvents {
    fn begin(&mut self, text: &mut String) {
        // A first line, so that the client knows that it is connected.
        text.push_str(self.keep_alive());
    }

    fn event(&mut self, event: AgentEvent, text: &mut String) {
        let Ok(mut data) = serde_json::to_value(&event) else { return };
        if let (AgentEvent::CallStarted { .. }, Some(members)) = (&event, data.as_object_mut()) {
            // They are as the model wrote them, with whatever it knows.
            members.remove("arguments");
        }
        add_event(text, data["type"].as_str(), &data);
    }

    fn end(&mut self, ended: Ended, text: &mut String) {
        match ended {
            Ok(outcome) => add_event(text, Some("answer"), &body(&self.agent, &outcome)),
            Err(failure) => add_event(text, Some("error"), &problem::body(&failure)),
        }
    }

    fn keep_alive(&self) -> &'static str {
        ":\n\n"
    }
}
