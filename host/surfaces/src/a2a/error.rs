//! Errors of the protocol, in the forms of both bindings.

use super::bounds::MAX_FAULT;
use super::time;
use crate::failure::{Failure, FailureKind};
use agent_spaces_journal::StoreError;
use agent_spaces_pipeline::OPERATOR_TARGET;
use agent_spaces_types::shown::Shown;
use http::StatusCode;
use serde_json::{Map, Value, json};

/// Error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct A2aError {
    pub(super) kind: ErrorKind,
    /// For people: the fault, then the fix.
    pub(super) message: String,
    /// Member of the request that is at fault.
    field: Option<String>,
    /// Task that it is about.
    task: Option<String>,
}

/// Kinds of error. Those of the protocol have a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// The body is not JSON.
    Parse,
    /// The body is no request of JSON-RPC.
    Request,
    /// There is no such method or path.
    Method,
    /// A parameter is wrong.
    Params,
    /// The token is missing or unknown.
    Token,
    /// The caller may not do this.
    Denied,
    /// The request is too large.
    TooLarge,
    /// Too much is in progress.
    Busy,
    /// The server failed.
    Internal,
    /// There is no such task, or it is another caller's.
    TaskNotFound,
    /// The task is over.
    TaskNotCancelable,
    /// Push notifications are not sent.
    PushNotSupported,
    /// The operation is not possible here, or not in this state.
    Unsupported,
    /// A part of the message has a media type that agents do not read.
    ContentType,
    /// The body of the request has another media type than JSON.
    BodyType,
    /// The version of the protocol is not 1.0.
    Version,
}

impl ErrorKind {
    /// Code of JSON-RPC.
    fn code(self) -> i32 {
        match self {
            ErrorKind::Parse => -32700,
            ErrorKind::Request | ErrorKind::Token | ErrorKind::Denied | ErrorKind::TooLarge => -32600,
            ErrorKind::Method => -32601,
            ErrorKind::Params => -32602,
            ErrorKind::Busy | ErrorKind::Internal => -32603,
            ErrorKind::TaskNotFound => -32001,
            ErrorKind::TaskNotCancelable => -32002,
            ErrorKind::PushNotSupported => -32003,
            ErrorKind::Unsupported => -32004,
            ErrorKind::ContentType | ErrorKind::BodyType => -32005,
            ErrorKind::Version => -32009,
        }
    }

    /// HTTP status of HTTP+JSON.
    fn status(self) -> StatusCode {
        match self {
            ErrorKind::Token => StatusCode::UNAUTHORIZED,
            ErrorKind::Denied => StatusCode::FORBIDDEN,
            ErrorKind::Method | ErrorKind::TaskNotFound => StatusCode::NOT_FOUND,
            ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::BodyType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// Name of the status in `google.rpc.Code`.
    fn status_name(self) -> &'static str {
        match self {
            ErrorKind::Token => "UNAUTHENTICATED",
            ErrorKind::Denied => "PERMISSION_DENIED",
            ErrorKind::Method | ErrorKind::TaskNotFound => "NOT_FOUND",
            ErrorKind::TooLarge => "OUT_OF_RANGE",
            ErrorKind::Busy => "UNAVAILABLE",
            ErrorKind::Internal => "INTERNAL",
            ErrorKind::TaskNotCancelable
            | ErrorKind::PushNotSupported
            | ErrorKind::Unsupported
            | ErrorKind::Version => "FAILED_PRECONDITION",
            _ => "INVALID_ARGUMENT",
        }
    }

    /// Name of the error in the protocol.
    fn reason(self) -> Option<&'static str> {
        Some(match self {
            ErrorKind::TaskNotFound => "TASK_NOT_FOUND",
            ErrorKind::TaskNotCancelable => "TASK_NOT_CANCELABLE",
            ErrorKind::PushNotSupported => "PUSH_NOTIFICATION_NOT_SUPPORTED",
            ErrorKind::Unsupported => "UNSUPPORTED_OPERATION",
            ErrorKind::ContentType | ErrorKind::BodyType => "CONTENT_TYPE_NOT_SUPPORTED",
            ErrorKind::Version => "VERSION_NOT_SUPPORTED",
            _ => return None,
        })
    }
}

impl A2aError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> A2aError {
        A2aError { kind, message: message.into(), field: None, task: None }
    }

    /// A parameter that is wrong.
    pub(super) fn params(field: impl Into<String>, message: impl Into<String>) -> A2aError {
        A2aError { field: Some(field.into()), ..A2aError::new(ErrorKind::Params, message) }
    }

    /// Parameters of another form.
    pub(super) fn form(error: &serde_json::Error) -> A2aError {
        let message = Shown::line(&format!("Invalid parameters: {error}"), MAX_FAULT);
        A2aError::new(ErrorKind::Params, String::from(message))
    }

    /// An error about a task.
    pub(super) fn of_task(kind: ErrorKind, task: &str, message: impl Into<String>) -> A2aError {
        let task = String::from(Shown::line(task, MAX_FAULT));
        A2aError { task: Some(task), ..A2aError::new(kind, message) }
    }

    /// A task that is not there, or not this caller's.
    pub(super) fn not_found(task: &str) -> A2aError {
        let message = "Task not found: it never was, is no longer kept, or belongs to another caller";
        A2aError::of_task(ErrorKind::TaskNotFound, task, message)
    }

    /// A fault of the journal. The details go to the operator's log alone.
    pub(super) fn store(error: &StoreError) -> A2aError {
        let said = match error {
            StoreError::Busy | StoreError::Unreachable(_) => "The journal cannot be reached; try again",
            StoreError::QueueFull(_) => "The journal has too much to write; try again",
            _ => return A2aError::internal(&error.to_string()),
        };
        tracing::warn!(target: OPERATOR_TARGET, "A2A request refused: {error}");
        A2aError::new(ErrorKind::Busy, said)
    }

    /// A fault of this host.
    pub(super) fn internal(error: &str) -> A2aError {
        tracing::error!(target: OPERATOR_TARGET, "A2A request failed: {error}");
        A2aError::new(ErrorKind::Internal, "The server could not do this; its log has the reason")
    }

    /// A failure that all surfaces have.
    pub(super) fn of_failure(failure: &Failure) -> A2aError {
        let kind = match failure.kind {
            FailureKind::Token => ErrorKind::Token,
            FailureKind::Denied => ErrorKind::Denied,
            FailureKind::NotFound | FailureKind::Method => ErrorKind::Method,
            FailureKind::TooLarge => ErrorKind::TooLarge,
            FailureKind::Busy | FailureKind::Stopping => ErrorKind::Busy,
            FailureKind::Invalid | FailureKind::Late => ErrorKind::Request,
            FailureKind::Conflict => ErrorKind::Unsupported,
            _ => ErrorKind::Internal,
        };
        A2aError::new(kind, failure.message.clone())
    }

    /// HTTP status of HTTP+JSON.
    pub(super) fn status(&self) -> StatusCode {
        self.kind.status()
    }

    /// Details, each with its type.
    fn details(&self) -> Vec<Value> {
        let mut details = Vec::new();
        if let Some(reason) = self.kind.reason() {
            let mut metadata = Map::new();
            metadata.insert("timestamp".to_owned(), json!(time::format(time::now_ms())));
            if let Some(task) = &self.task {
                metadata.insert("taskId".to_owned(), json!(task));
            }
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": reason,
                "domain": "a2a-protocol.org",
                "metadata": metadata,
            }));
        }
        if let Some(field) = &self.field {
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{ "field": field, "description": self.message }],
            }));
        }
        details
    }

    /// The error object of JSON-RPC.
    pub(super) fn json_rpc(&self) -> Value {
        let mut error = json!({ "code": self.kind.code(), "message": self.message });
        let details = self.details();
        if !details.is_empty() {
            error["data"] = Value::Array(details);
        }
        error
    }

    /// The body of HTTP+JSON: a `google.rpc.Status`.
    pub(super) fn http_json(&self) -> Value {
        json!({ "error": {
            "code": self.status().as_u16(),
            "status": self.kind.status_name(),
            "message": self.message,
            "details": self.details(),
        } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_protocol_has_its_reason_in_both_bindings() {
        let error = A2aError::not_found("t1");
        let rpc = error.json_rpc();
        assert_eq!((&rpc["code"], &rpc["data"][0]["reason"]), (&json!(-32001), &json!("TASK_NOT_FOUND")));
        assert_eq!(rpc["data"][0]["domain"], json!("a2a-protocol.org"));
        assert_eq!(rpc["data"][0]["metadata"]["taskId"], json!("t1"));
        let http = error.http_json();
        assert_eq!((error.status(), &http["error"]["code"]), (StatusCode::NOT_FOUND, &json!(404)));
        assert_eq!(http["error"]["status"], json!("NOT_FOUND"));
        assert_eq!(http["error"]["details"][0]["@type"], json!("type.googleapis.com/google.rpc.ErrorInfo"));
    }

    #[test]
    fn codes_are_those_of_the_protocol() {
        let kinds = [
            (ErrorKind::TaskNotCancelable, -32002, 400),
            (ErrorKind::PushNotSupported, -32003, 400),
            (ErrorKind::Unsupported, -32004, 400),
            (ErrorKind::ContentType, -32005, 400),
            (ErrorKind::Version, -32009, 400),
            (ErrorKind::Parse, -32700, 400),
            (ErrorKind::Method, -32601, 404),
            (ErrorKind::Params, -32602, 400),
            (ErrorKind::Internal, -32603, 500),
        ];
        for (kind, code, status) in kinds {
            assert_eq!((kind.code(), kind.status().as_u16()), (code, status), "{kind:?}");
        }
    }

    #[test]
    fn a_wrong_parameter_is_named() {
        let error = A2aError::params("message.parts", "At least one part is required").json_rpc();
        assert_eq!(error["data"][0]["fieldViolations"][0]["field"], json!("message.parts"));
        assert!(A2aError::new(ErrorKind::Request, "x").json_rpc().get("data").is_none());
    }

    #[test]
    fn faults_of_the_host_are_told_to_the_operator_alone() {
        let error = A2aError::store(&StoreError::Io("/home/ann/journal".to_owned()));
        assert!(!error.http_json().to_string().contains("ann"));
    }
}
