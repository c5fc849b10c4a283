//! Errors as problem documents (RFC 9457).

use agent_spaces_durable::DurableError;
use agent_spaces_journal::{ClaimError, Refused, StoreError};
use agent_spaces_pipeline::OPERATOR_TARGET;
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::script_error::ScriptError;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{HeaderName, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// Media type of problem documents.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// Seconds after which a refused request may succeed: what it waits for seldom takes longer.
const RETRY_SECONDS: u32 = 1;

/// The same while the journal cannot be reached. A failover takes seconds, and requests have waited for it already.
const UNREACHABLE_SECONDS: u32 = 5;

/// Error of a request.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// URN of the kind of problem: `urn:agent-spaces:problem:not_found`.
    #[serde(rename = "type")]
    kind: String,
    /// Short description of the kind of problem.
    title: String,
    /// HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Code that programs can rely on: `not_found`.
    code: String,
    /// Description of this problem, with what to do.
    detail: String,
    /// Faults of the request's body, query and headers, one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<Fault>,
    /// Error of a script, with its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<crate::run_error::ScriptFault>)]
    error: Option<Box<RunError>>,
    /// Seconds after which the same request may succeed.
    #[serde(skip)]
    retry_after: Option<u32>,
}

/// Fault of one part of a request: of its body, of a query parameter or of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Fault {
    /// JSON pointer into the body; empty for the whole of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    /// Name of the query parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// Name of the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<String>,
    /// Fault, and how to correct it.
    detail: String,
}

impl Problem {
    /// Creates a problem. One that is over soon says when to try again.
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Problem {
        let is_over_soon = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&status);
        Problem {
            kind: format!("urn:agent-spaces:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: detail.into(),
            errors: Vec::new(),
            error: None,
            retry_after: is_over_soon.then_some(RETRY_SECONDS),
        }
    }

    /// Creates the problem of something that does not exist, or is another caller's: nobody learns which.
    pub(crate) fn not_found(kind: &str) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not_found", format!("There is no such {kind}"))
    }

    /// Creates the problem of a member of the body, by its JSON pointer.
    pub(crate) fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Problem {
        let (pointer, detail) = (pointer.into(), detail.into());
        Problem::faulty(pointer.clone(), Fault { pointer: Some(pointer), detail, ..Fault::default() })
    }

    /// Creates the problem of a query parameter.
    pub(crate) fn parameter(name: impl Into<String>, detail: impl Into<String>) -> Problem {
        let (name, detail) = (name.into(), detail.into());
        Problem::faulty(name.clone(), Fault { parameter: Some(name), detail, ..Fault::default() })
    }

    /// Creates the problem of a header.
    pub(crate) fn header(name: impl Into<String>, detail: impl Into<String>) -> Problem {
        let (name, detail) = (name.into(), detail.into());
        Problem::faulty(name.clone(), Fault { header: Some(name), detail, ..Fault::default() })
    }

    /// Creates the problem of a query as a whole.
    pub(crate) fn query(detail: impl Into<String>) -> Problem {
        Problem::faulty(String::new(), Fault { detail: detail.into(), ..Fault::default() })
    }

    fn faulty(place: String, fault: Fault) -> Problem {
        let place = if place.is_empty() { place } else { format!("{place}: ") };
        let detail = format!("{place}{}", fault.detail);
        let problem = Problem::new(StatusCode::BAD_REQUEST, "request.invalid", detail);
        Problem { errors: vec![fault], ..problem }
    }

    /// Creates the problem of a request that the state of things forbids.
    pub(crate) fn conflict(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, code, detail)
    }

    /// Creates the problem of a request that needs a run that has not ended.
    pub(crate) fn run_ended() -> Problem {
        Problem::conflict("run.ended", "The run has ended")
    }

    /// Creates the problem of a second decision.
    pub(crate) fn approval_decided() -> Problem {
        Problem::conflict("approval.decided", "Somebody decided before: only the first decision counts")
    }

    /// Creates the problem of a decision that comes late.
    pub(crate) fn approval_expired() -> Problem {
        Problem::conflict("approval.expired", "The time to decide is over")
    }

    /// Creates the problem of a caller that asks for more than it was given.
    pub(crate) fn denied(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, code, detail)
    }

    /// Creates the problem of a host that cannot do its work now.
    pub(crate) fn unavailable(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, detail)
    }

    /// Creates the problem of a caller that has too much in progress.
    pub(crate) fn busy(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, code, detail)
    }

    /// Creates the problem of a script that cannot run.
    pub(crate) fn script(error: ScriptError) -> Problem {
        // Only the operator can enable a module.
        let is_withheld = error.code == Code::ImportDenied && error.specifier.is_some();
        let mut error = RunError::of_script(error);
        error.hint = error.hint.filter(|_| !is_withheld);
        let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, &error.code, error.message.clone());
        Problem { error: Some(Box::new(error)), ..problem }
    }

    /// Creates the problem of a fault of this host. The details go to the operator's log alone.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Problem {
        tracing::error!(target: OPERATOR_TARGET, "request failed: {error}");
        let detail = "The server could not do this; its log has the reason";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "host.failed", detail)
    }

    /// Says after how many seconds the same request may succeed.
    #[must_use]
    pub(crate) fn after(mut self, seconds: u32) -> Problem {
        self.retry_after = Some(seconds);
        self
    }

    /// Returns the code.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // A value of strings and numbers, which always serializes.
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        headers.insert(HeaderName::from_static("cache-control"), HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match &error {
            StoreError::Unknown { .. } => Problem::not_found("run"),
            StoreError::Exists { .. } => Problem::conflict("conflict", "It exists already"),
            StoreError::Fenced { .. } => {
                Problem::unavailable("host.journal", "Another host has taken the run over meanwhile; try again")
            }
            StoreError::Busy => Problem::unavailable("host.journal", "The journal is locked; try again"),
            StoreError::Unreachable(_) => {
                tracing::warn!(target: OPERATOR_TARGET, "request refused: {error}");
                Problem::unavailable("host.journal", "The journal cannot be reached; try again")
                    .after(UNREACHABLE_SECONDS)
            }
            StoreError::QueueFull(_) => {
                Problem::unavailable("host.journal", "The journal has too much to write; try again")
            }
            StoreError::Full(_) => {
                tracing::error!(target: OPERATOR_TARGET, "the journal is full: {error}");
                let detail = "The journal is full; ask the operator to remove ended runs";
                Problem::new(StatusCode::INSUFFICIENT_STORAGE, "host.journal", detail)
            }
            StoreError::Invalid(message) => Problem::invalid("", message.clone()),
            _ => Problem::internal(&error),
        }
    }
}

impl From<DurableError> for Problem {
    fn from(error: DurableError) -> Problem {
        match error {
            DurableError::Store(error) | DurableError::Claim(ClaimError::Store(error)) => error.into(),
            DurableError::UnknownRun { .. } => Problem::not_found("run"),
            DurableError::NotInDoubt { .. } | DurableError::Answered { .. } => {
                Problem::conflict("run.not_in_doubt", error.to_string())
            }
            DurableError::Claim(ClaimError::Refused(refused)) => match refused {
                Refused::Finished { .. } => Problem::run_ended(),
                other => Problem::conflict("conflict", other.to_string()),
            },
            DurableError::Newer { .. } => Problem::unavailable(
                "host.journal",
                "A newer version of the server began this run; ask a host that has it",
            ),
            other => Problem::internal(&other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;
    use agent_spaces_durable::DurableError;
    use agent_spaces_journal::StoreError;
    use axum::response::IntoResponse;
    use http::StatusCode;
    use serde_json::json;

    #[test]
    fn a_problem_has_the_members_of_the_standard() {
        let problem = Problem::invalid("/limits/fuel", "expected a whole number");
        let json = serde_json::to_value(&problem).unwrap();
        assert_eq!(json["type"], "urn:agent-spaces:problem:request.invalid");
        assert_eq!((&json["status"], &json["title"]), (&400.into(), &"Bad Request".into()));
        assert_eq!(json["detail"], "/limits/fuel: expected a whole number");
        assert_eq!(json["errors"], json!([{ "pointer": "/limits/fuel", "detail": "expected a whole number" }]));
        let response = problem.into_response();
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }

    #[test]
    fn a_fault_names_the_parameter_or_the_header() {
        let errors = |problem: Problem| serde_json::to_value(problem).unwrap()["errors"].clone();
        let wrong = "expected a number";
        assert_eq!(errors(Problem::parameter("limit", wrong)), json!([{ "parameter": "limit", "detail": wrong }]));
        assert_eq!(errors(Problem::header("If-Match", wrong)), json!([{ "header": "If-Match", "detail": wrong }]));
        assert_eq!(errors(Problem::query(wrong)), json!([{ "detail": wrong }]));
        assert_eq!(serde_json::to_value(Problem::query(wrong)).unwrap()["detail"], wrong);
    }

    #[test]
    fn problems_that_are_over_soon_say_when_to_try_again() {
        for status in [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE] {
            let response = Problem::new(status, "code", "wait").into_response();
            assert_eq!((response.status(), &response.headers()["retry-after"]), (status, &"1".parse().unwrap()));
        }
        assert!(!Problem::not_found("run").into_response().headers().contains_key("retry-after"));
    }

    #[test]
    fn a_store_that_cannot_be_reached_may_be_reached_later() {
        let response =
            Problem::from(StoreError::Unreachable("cannot connect to db.internal".to_owned())).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["retry-after"], "5");
    }

    #[test]
    fn what_is_over_in_a_moment_is_no_fault_of_the_server() {
        let fenced = Problem::from(StoreError::Fenced { run: "run_1".to_owned(), epoch: 1 });
        let crowded = StoreError::QueueFull("the journal's queue is full".to_owned()).into();
        let newer = DurableError::Newer { found: 3, known: 2 }.into();
        for problem in [fenced, StoreError::closed().into(), StoreError::Busy.into(), crowded, newer] {
            let response = problem.into_response();
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(response.headers().contains_key("retry-after"));
        }
    }

    #[test]
    fn faults_of_the_store_reveal_nothing_of_this_machine() {
        let problem = Problem::from(StoreError::Io("open /home/ann/journal: denied".to_owned()));
        assert!(!serde_json::to_string(&problem).unwrap().contains("/home"), "{problem:?}");
    }
}
