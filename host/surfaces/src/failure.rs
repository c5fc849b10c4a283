//! Errors of requests. Each surface writes them in its own form.

use crate::bounds::RETRY_AFTER;
use agent_spaces_agent::{AgentError, Ending, Outcome};
use agent_spaces_http_server::body::BodyFault;
use agent_spaces_http_server::{HttpResponse, Refusal, response};
use agent_spaces_pipeline::OPERATOR_TARGET;
use http::StatusCode;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER as RETRY_AFTER_HEADER};
use serde_json::Value;

/// Header with which clients are told whether to send the same request again.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Characters of a name that an error repeats.
const MAX_NAME: usize = 100;

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// For people: the fault, then the fix.
    pub(crate) message: String,
    /// Member of the request that is at fault.
    pub(crate) param: Option<String>,
    /// True if the agent made calls before it failed. The same request could make them again.
    pub(crate) had_calls: bool,
    /// Methods that the path takes, where the request has another: the header `Allow`.
    pub(crate) allowed: Option<&'static str>,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The request is wrong.
    Invalid,
    /// The token is missing or unknown.
    Token,
    /// The caller may not do this.
    Denied,
    /// There is no such path, agent or session.
    NotFound,
    /// The path does not take this method.
    Method,
    /// The body is not JSON, by its media type.
    Media,
    /// The request is too large.
    TooLarge,
    /// The request did not arrive in time.
    Late,
    /// The session is busy with another question.
    Conflict,
    /// Too much is in progress.
    Busy,
    /// The conversation is larger than the context window.
    ContextLimit,
    /// A budget is spent.
    Budget,
    /// No model answered.
    Model,
    /// The answer is not what its schema allows.
    Output,
    /// The time of the question is over.
    Time,
    /// The server stops.
    Stopping,
    /// The server failed.
    Internal,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), param: None, had_calls: false, allowed: None }
    }

    /// A member of the request that is wrong.
    pub(crate) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure { param: Some(param.into()), ..Failure::new(FailureKind::Invalid, message) }
    }

    /// A path without this method. It takes those that are given, as a list with commas.
    pub(crate) fn method(allowed: &'static str) -> Failure {
        let failure = Failure::new(FailureKind::Method, format!("Method not allowed (use {allowed})"));
        Failure { allowed: Some(allowed), ..failure }
    }

    /// A fault of this host. The details go to the operator's log alone.
    fn internal(error: &AgentError) -> Failure {
        tracing::error!(target: OPERATOR_TARGET, "question failed: {error}");
        Failure::new(FailureKind::Internal, "The server could not do this; its log has the reason")
    }

    /// An agent that is not there.
    pub(crate) fn unknown_agent(name: &str) -> Failure {
        let name: String = name.chars().take(MAX_NAME).collect();
        Failure::new(FailureKind::NotFound, format!("There is no agent {name:?}: see the list of agents"))
    }

    /// A server that ends.
    pub(crate) fn stopping() -> Failure {
        Failure::new(FailureKind::Stopping, "The question was cancelled: the server stops, or the client did not read")
    }

    pub(crate) fn of_error(error: &AgentError) -> Failure {
        let kind = match error {
            // Its text names all agents, also those that the caller may not ask.
            AgentError::UnknownAgent { name, .. } => return Failure::unknown_agent(name),
            AgentError::UnknownSession(_) => FailureKind::NotFound,
            AgentError::SessionBusy(_) => FailureKind::Conflict,
            AgentError::Invalid(_) => FailureKind::Invalid,
            AgentError::Denied(_) => FailureKind::Denied,
            AgentError::Busy => FailureKind::Busy,
            // Their texts name files of this machine.
            _ => return Failure::internal(error),
        };
        Failure::new(kind, sentence(&error.to_string()))
    }

    pub(crate) fn of_refusal(refusal: &Refusal) -> Failure {
        let kind = match refusal {
            Refusal::HeadTooLarge => FailureKind::TooLarge,
            Refusal::Host | Refusal::Origin | Refusal::Operator => FailureKind::Denied,
            Refusal::NotFound => FailureKind::NotFound,
            Refusal::Token => FailureKind::Token,
            Refusal::Connections | Refusal::Attempts(_) => FailureKind::Busy,
            Refusal::Body(fault) => return Failure::of_body(*fault),
        };
        Failure::new(kind, refusal.to_string())
    }

    pub(crate) fn of_body(fault: BodyFault) -> Failure {
        let kind = match fault {
            BodyFault::TooLarge(_) => FailureKind::TooLarge,
            BodyFault::Incomplete => FailureKind::Invalid,
            BodyFault::TimedOut => FailureKind::Late,
        };
        Failure::new(kind, fault.to_string())
    }

    /// The failure of a question that ended without an answer; `None` if it has one.
    pub(crate) fn of_outcome(outcome: &Outcome) -> Option<Failure> {
        let kind = match outcome.ending {
            Ending::Done | Ending::TurnLimit | Ending::CallerTools | Ending::Length | Ending::Refused => return None,
            // What was said before the window was full is an answer that is cut.
            Ending::ContextLimit if !outcome.text.is_empty() => return None,
            Ending::ContextLimit => FailureKind::ContextLimit,
            Ending::Budget => FailureKind::Budget,
            Ending::ModelFailed => FailureKind::Model,
            Ending::InvalidOutput => FailureKind::Output,
            Ending::Time => FailureKind::Time,
            Ending::Cancelled => FailureKind::Stopping,
            _ => FailureKind::Internal,
        };
        let message = match (&outcome.message, kind) {
            (_, FailureKind::Stopping) => return Some(Failure::stopping()),
            (Some(message), FailureKind::Internal) => {
                return Some(Failure::internal(&AgentError::Store(message.clone())));
            }
            (Some(message), _) => message.clone(),
            (None, _) => format!("The question ended without an answer ({})", outcome.ending.code()),
        };
        Some(Failure::new(kind, message))
    }

    /// HTTP status. Clients send requests again by themselves after most statuses above 499, so a failure after calls has
    /// another: calls that took effect must not happen twice.
    pub(crate) fn status(&self) -> StatusCode {
        match self.kind {
            FailureKind::Invalid | FailureKind::ContextLimit => StatusCode::BAD_REQUEST,
            FailureKind::Token => StatusCode::UNAUTHORIZED,
            FailureKind::Budget => StatusCode::PAYMENT_REQUIRED,
            FailureKind::Denied => StatusCode::FORBIDDEN,
            FailureKind::NotFound => StatusCode::NOT_FOUND,
            FailureKind::Method => StatusCode::METHOD_NOT_ALLOWED,
            FailureKind::Late => StatusCode::REQUEST_TIMEOUT,
            FailureKind::Conflict => StatusCode::CONFLICT,
            FailureKind::Media => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            FailureKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            FailureKind::Busy => StatusCode::TOO_MANY_REQUESTS,
            _ if self.had_calls => StatusCode::FAILED_DEPENDENCY,
            FailureKind::Model | FailureKind::Output => StatusCode::BAD_GATEWAY,
            FailureKind::Time => StatusCode::GATEWAY_TIMEOUT,
            FailureKind::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            FailureKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The response, with a body in the form of a surface.
    pub(crate) fn response(&self, media_type: &'static str, body: &Value) -> HttpResponse {
        let mut response = response(self.status(), body.to_string());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.kind == FailureKind::Busy {
            headers.insert(RETRY_AFTER_HEADER, HeaderValue::from(RETRY_AFTER));
        } else {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if let Some(allowed) = self.allowed {
            headers.insert(ALLOW, HeaderValue::from_static(allowed));
        }
        response
    }
}

/// Makes a sentence of the text of an error.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_models::Usage;

    fn outcome(ending: Ending, text: &str) -> Outcome {
        Outcome {
            session: String::new(),
            text: text.to_owned(),
            value: None,
            ending,
            message: Some("why".to_owned()),
            calls: Vec::new(),
            turns: 1,
            usage: Usage::default(),
            cost: None,
            model: None,
        }
    }

    #[test]
    fn a_failure_after_calls_has_no_status_that_clients_retry() {
        for ending in [Ending::ModelFailed, Ending::Time, Ending::InvalidOutput, Ending::Cancelled, Ending::Store] {
            let failure = Failure::of_outcome(&outcome(ending, "")).unwrap();
            assert!(failure.status().is_server_error(), "{ending:?}");
            let failure = Failure { had_calls: true, ..failure };
            assert_eq!(failure.status(), StatusCode::FAILED_DEPENDENCY, "{ending:?}");
        }
    }

    #[test]
    fn a_full_window_is_a_failure_without_text_alone() {
        assert_eq!(Failure::of_outcome(&outcome(Ending::ContextLimit, "Half of")), None);
        let failure = Failure::of_outcome(&outcome(Ending::ContextLimit, "")).unwrap();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::ContextLimit, "why"));
    }

    #[test]
    fn faults_of_the_host_are_told_to_the_operator_alone() {
        let failure = Failure::of_error(&AgentError::Store("/home/ann/journal".to_owned()));
        assert!(!failure.message.contains("ann"), "{failure:?}");
        let failure = Failure::of_outcome(&Outcome { message: Some("/home/ann".into()), ..outcome(Ending::Store, "") });
        assert!(!failure.unwrap().message.contains("ann"));
    }

    #[test]
    fn an_unknown_agent_does_not_give_the_others_away() {
        let known = "Agents: treasurer".to_owned();
        let failure = Failure::of_error(&AgentError::UnknownAgent { name: "nobody".to_owned(), known });
        assert!(failure.message.contains("nobody") && !failure.message.contains("treasurer"), "{failure:?}");
        assert_eq!(failure.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn a_caller_that_may_not_ask_an_agent_is_told_so() {
        let failure = Failure::of_error(&AgentError::Denied("this caller is not given the space".to_owned()));
        assert_eq!((failure.kind, failure.status()), (FailureKind::Denied, StatusCode::FORBIDDEN));
        assert_eq!(failure.message, "This caller is not given the space");
    }

    #[test]
    fn another_method_is_answered_with_those_of_the_path() {
        let refused = Failure::method("GET, POST").response("application/json", &Value::Null);
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(refused.headers()["allow"], "GET, POST");
        assert!(!Failure::stopping().response("application/json", &Value::Null).headers().contains_key("allow"));
    }

    #[test]
    fn only_a_busy_server_asks_for_another_attempt() {
        let busy = Failure::of_error(&AgentError::Busy).response("application/json", &Value::Null);
        assert_eq!((busy.status(), busy.headers().contains_key("retry-after")), (StatusCode::TOO_MANY_REQUESTS, true));
        let other = Failure::invalid("x", "wrong").response("application/json", &Value::Null);
        assert_eq!(other.headers()["x-should-retry"], "false");
    }
}
