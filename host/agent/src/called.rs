//! Nested agents: the provider behind the functions of `@capabilities/agents`.
//!
//! Agents use spaces, and spaces have agents: so a space is given [`CalledAgents`] before there is a service, which the
//! host adds when it has one. Events of a question that a call asks are not events of the calling run, which sees one
//! call and one answer.

use crate::answering::{Ending, Outcome};
use crate::definition::OutputFormat;
use crate::error::AgentError;
use crate::service::{AgentService, ParentCall, Question, Surface};
use agent_spaces_calls::provider::Answering;
use agent_spaces_http_server::Client;
use agent_spaces_models::Message;
use agent_spaces_providers::{AgentQuestion, Agents};
use agent_spaces_types::caller::Caller;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

/// Name of the surface, for logs.
const SURFACE: &str = "capability";

/// Agents that scripts call. Clones share the service.
#[derive(Clone, Debug, Default)]
pub struct CalledAgents(Arc<Mutex<Option<Surface>>>);

impl CalledAgents {
    /// Sets the service that answers from now on.
    pub fn serve(&self, service: &AgentService) {
        self.put(Some(service.surface(SURFACE, None)));
    }

    /// Lets the service go. The service uses spaces that have these agents: without this neither is ever dropped.
    pub fn close(&self) {
        self.put(None);
    }

    fn put(&self, surface: Option<Surface>) {
        let before = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), surface);
        // Outside of the lock: the service drops spaces that have these agents.
        drop(before);
    }
}

impl Agents for CalledAgents {
    fn ask(&self, question: AgentQuestion) -> Answering {
        let surface = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::pin(async move {
            let unavailable = || CapabilityError::new(Code::CallUnavailable, "The host has no agents");
            let surface = surface.ok_or_else(unavailable)?;
            let has_schema = question.schema.is_some();
            let answered = surface.ask(asked(question)).await;
            answered.map_err(|error| failure(&error)).and_then(|outcome| answer(outcome, has_schema))
        })
    }
}

/// The question of a call. The agent acts for the caller of the run, one level deeper.
fn asked(question: AgentQuestion) -> Question {
    let AgentQuestion { agent, text, schema, call } = question;
    let depth = call.caller.agent_depth.saturating_add(1);
    let caller = Caller { agent_depth: depth, ..(*call.caller).clone() };
    let client = match caller.name.clone() {
        Some(name) => Client::named(&name, caller),
        None => Client::of_process(caller),
    };
    let parent = ParentCall { depth: depth.into() };
    let output = schema.map(OutputFormat::Json);
    Question { output, parent: Some(parent), ..Question::new(client, agent, vec![Message::user(text)]) }
}

/// The answer of a call.
fn answer(outcome: Outcome, has_schema: bool) -> Answer {
    let Outcome { ending, text, value, message, .. } = outcome;
    let is_answer = ending.is_answer() && ending != Ending::CallerTools;
    match value {
        Some(value) if is_answer && has_schema => return Ok(value),
        _ if is_answer && !has_schema => return Ok(json!({ "text": text })),
        _ => {}
    }
    let code = if ending == Ending::Time { Code::CallTimeout } else { Code::CallFailed };
    let why = message.unwrap_or_else(|| "The agent did not answer as it was asked to".to_owned());
    let mut error = CapabilityError::new(code, why);
    error.details = Some(json!({ "ending": ending.code() }));
    Err(error)
}

/// The error of a call. What concerns the host alone is in its log.
fn failure(error: &AgentError) -> CapabilityError {
    match error {
        AgentError::Busy | AgentError::SessionBusy(_) => {
            let mut busy = CapabilityError::new(Code::CallUnavailable, error.to_string());
            busy.retryable = true;
            busy
        }
        AgentError::Invalid(why) => CapabilityError::new(Code::CallInvalid, why.clone()),
        AgentError::Denied(why) => CapabilityError::new(Code::CallDenied, why.clone()),
        AgentError::UnknownAgent { name, .. } => {
            let why = format!("There is no agent {name:?}: its configuration is not accepted, or has changed");
            CapabilityError::new(Code::CallUnavailable, why)
        }
        AgentError::UnknownSession(_) | AgentError::Store(_) | AgentError::Tools(_) | AgentError::Configuration(_) => {
            tracing::warn!(target: "agent_spaces::agent", "an agent that a script calls cannot be asked: {error}");
            CapabilityError::new(Code::CallUnavailable, "The agent cannot be asked: the host's log says why")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ending, Outcome, answer, failure};
    use crate::error::AgentError;
    use agent_spaces_models::Usage;
    use serde_json::{Value, json};

    fn outcome(ending: Ending, value: Option<Value>) -> Outcome {
        Outcome {
            session: String::new(),
            text: "It is one.".to_owned(),
            value,
            ending,
            message: None,
            calls: Vec::new(),
            turns: 1,
            usage: Usage::default(),
            cost: None,
            model: None,
        }
    }

    #[test]
    fn answers_are_text_or_what_the_schema_allows() {
        assert_eq!(answer(outcome(Ending::Done, None), false), Ok(json!({ "text": "It is one." })));
        assert_eq!(answer(outcome(Ending::Done, Some(json!([1]))), true), Ok(json!([1])));
        // An answer that was cut is not what the schema allows.
        assert!(answer(outcome(Ending::Length, None), true).is_err());
    }

    #[test]
    fn other_endings_are_errors_that_name_them() {
        let error = answer(outcome(Ending::Budget, None), false).unwrap_err();
        assert_eq!((error.code.as_str(), error.details), ("call.failed", Some(json!({ "ending": "budget" }))));
        assert_eq!(answer(outcome(Ending::Time, None), false).unwrap_err().code, "call.timeout");
        // An agent without an answer does not answer with the half of one.
        assert!(answer(outcome(Ending::InvalidOutput, Some(json!({}))), true).is_err());
    }

    #[test]
    fn scripts_see_nothing_of_the_host() {
        let error = failure(&AgentError::Store("/home/ann/journal is locked".to_owned()));
        assert!(!error.message.contains("/home"), "{error}");
        assert!(failure(&AgentError::Busy).retryable);
    }
}
