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
    /// Faults of the request's body or query, one by one.
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

/// Fault of one member of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Fault {
    /// JSON pointer into the body, or the name of a query parameter or header.
    pointer: String,
    /// Fault, and how to correct it.
    detail: String,
}

impl Problem {
    /// Creates a problem.
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Problem {
        Problem {
            kind: format!("urn:agent-spaces:problem:{code}"),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: detail.into(),
            errors: Vec::new(),
            error: None,
            retry_after: None,
        }
    }

    /// Creates the problem of something that does not exist, or is another caller's: nobody learns which.
    pub(crate) fn not_found(kind: &str) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not_found", format!("There is no such {kind}"))
    }

    /// Creates the problem of a member of the request.
    pub(crate) fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Problem {
        let (pointer, detail) = (pointer.into(), detail.into());
        let place = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, "request.invalid", format!("{place}{detail}"));
        problem.errors.push(Fault { pointer, detail });
        problem
    }

    /// Creates the problem of a request that the state of things forbids.
    pub(crate) fn conflict(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, code, detail)
    }

    /// Creates the problem of a caller that asks for more than it was given.
    pub(crate) fn denied(code: &str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, code, detail)
    }

    /// Creates the problem of a host that cannot do its work now.
    pub(crate) fn unavailable(code: &str, detail: impl Into<String>) -> Problem {
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
        Problem { retry_after: Some(1), ..problem }
    }

    /// Creates the problem of a caller that has too much in progress.
    pub(crate) fn busy(code: &str, detail: impl Into<String>) -> Problem {
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, code, detail);
        Problem { retry_after: Some(1), ..problem }
    }

    /// Creates the problem of a script that cannot run.
    pub(crate) fn script(error: ScriptError) -> Problem {
        // How to enable a module is for the operator.
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
            StoreError::Busy => Problem::unavailable("host.journal", "The journal is locked; try again"),
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
                Refused::Finished { .. } => Problem::conflict("run.ended", "The run has ended"),
                other => Problem::conflict("conflict", other.to_string()),
            },
            other => Problem::internal(&other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;
    use agent_spaces_journal::StoreError;
    use axum::response::IntoResponse;
    use http::StatusCode;

    #[test]
    fn a_problem_has_the_members_of_the_standard() {
        let problem = Problem::invalid("/limits/fuel", "expected a whole number");
        let json = serde_json::to_value(&problem).unwrap();
        assert_eq!(json["type"], "urn:agent-spaces:problem:request.invalid");
        assert_eq!((&json["status"], &json["title"]), (&400.into(), &"Bad Request".into()));
        assert_eq!(json["detail"], "/limits/fuel: expected a whole number");
        assert_eq!(json["errors"][0]["pointer"], "/limits/fuel");
        let response = Problem::busy("run.busy", "wait").into_response();
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(
            (response.status(), &response.headers()["retry-after"]),
            (StatusCode::TOO_MANY_REQUESTS, &"1".parse().unwrap())
        );
    }

    #[test]
    fn faults_of_the_store_reveal_nothing_of_this_machine() {
        let problem = Problem::from(StoreError::Io("open /home/ann/journal: denied".to_owned()));
        assert!(!serde_json::to_string(&problem).unwrap().contains("/home"), "{problem:?}");
    }
}
