//! Operations of the protocol, read from either binding.

use super::bounds::{DEFAULT_PAGE, MAX_ID, MAX_PAGE, MAX_PARTS};
use super::error::{A2aError, ErrorKind};
use super::query::Query;
use super::time;
use super::types::{Message, Role, TaskState};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// An operation with its parameters.
#[derive(Debug)]
pub(super) enum Operation {
    /// Sends a message; with `is_streamed`, events are the answer.
    Send { request: Box<SendRequest>, is_streamed: bool },
    /// Returns a task.
    Get { task: String, history: Option<usize> },
    /// Returns tasks.
    List(ListRequest),
    /// Ends a task.
    Cancel { task: String },
    /// Returns the events of a task from now on.
    Subscribe { task: String },
    /// Push notifications of a task.
    Push,
    /// Returns a card with more in it.
    ExtendedCard,
}

/// A message that is sent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SendRequest {
    pub(super) message: Message,
    #[serde(default)]
    configuration: Option<Configuration>,
}

/// `SendMessageConfiguration` of the protocol. Members may have the names of its Protocol Buffers too, as in all requests: the
/// JSON mapping of Protocol Buffers says so.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Configuration {
    #[serde(alias = "accepted_output_modes")]
    accepted_output_modes: Vec<String>,
    #[serde(alias = "task_push_notification_config")]
    task_push_notification_config: Option<Value>,
    #[serde(alias = "history_length")]
    history_length: Option<i64>,
    #[serde(alias = "return_immediately")]
    return_immediately: bool,
}

impl SendRequest {
    /// Returns true if the answer is the task as it begins.
    pub(super) fn returns_immediately(&self) -> bool {
        self.configuration.as_ref().is_some_and(|configuration| configuration.return_immediately)
    }

    /// Messages of the task that are returned.
    pub(super) fn history(&self) -> Result<Option<usize>, A2aError> {
        history(self.configuration.as_ref().and_then(|configuration| configuration.history_length))
    }

    /// Returns true if the caller reads JSON and no text.
    pub(super) fn wants_json(&self) -> bool {
        let modes = self.configuration.iter().flat_map(|configuration| &configuration.accepted_output_modes);
        let mut wants_json = false;
        for mode in modes {
            match mode.as_str() {
                "application/json" => wants_json = true,
                _ => return false,
            }
        }
        wants_json
    }

    /// Checks what does not depend on tasks.
    fn check(&self) -> Result<(), A2aError> {
        let message = &self.message;
        check_id("message.messageId", &message.message_id)?;
        for (field, id) in [("message.contextId", message.context()), ("message.taskId", message.task())] {
            id.map_or(Ok(()), |id| check_id(field, id))?;
        }
        if message.role != Role::User {
            return Err(A2aError::params("message.role", "A caller sends messages with the role ROLE_USER"));
        }
        if message.parts.is_empty() || message.parts.len() > MAX_PARTS {
            return Err(A2aError::params("message.parts", format!("A message has 1 to {MAX_PARTS} parts")));
        }
        self.history()?;
        let push = self.configuration.as_ref().and_then(|given| given.task_push_notification_config.as_ref());
        if push.is_some() { Err(push_not_supported()) } else { Ok(()) }
    }
}

/// Filter and page of a list of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListRequest {
    pub(super) context: Option<String>,
    pub(super) state: Option<TaskState>,
    /// Only those whose status changed at this time or later.
    pub(super) since: Option<i64>,
    pub(super) page: usize,
    /// End of the page before this one: time and id of its last task.
    pub(super) before: Option<(i64, String)>,
    pub(super) history: Option<usize>,
    pub(super) has_artifacts: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListParams {
    #[serde(alias = "context_id")]
    context_id: Option<String>,
    status: Option<String>,
    #[serde(alias = "page_size")]
    page_size: Option<i64>,
    #[serde(alias = "page_token")]
    page_token: Option<String>,
    #[serde(alias = "history_length")]
    history_length: Option<i64>,
    #[serde(alias = "status_timestamp_after")]
    status_timestamp_after: Option<String>,
    #[serde(alias = "include_artifacts")]
    include_artifacts: Option<bool>,
}

impl ListParams {
    fn checked(self) -> Result<ListRequest, A2aError> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let context = given(self.context_id);
        context.as_deref().map_or(Ok(()), |id| check_id("contextId", id))?;
        let state = given(self.status).filter(|name| name != "TASK_STATE_UNSPECIFIED").map(|name| {
            serde_json::from_value(Value::String(name))
                .map_err(|_| A2aError::params("status", "The status is not one of TASK_STATE_SUBMITTED, …"))
        });
        let since = given(self.status_timestamp_after).map(|text| {
            let fault = "The time is not of the form 2026-05-26T10:30:00.000Z";
            time::parse(&text).ok_or_else(|| A2aError::params("statusTimestampAfter", fault))
        });
        let page = self
            .page_size
            .map_or(Some(DEFAULT_PAGE), |size| usize::try_from(size).ok().filter(|size| (1..=MAX_PAGE).contains(size)));
        let before = given(self.page_token).map(|token| {
            read_token(&token).ok_or_else(|| A2aError::params("pageToken", "The token is not one of nextPageToken"))
        });
        Ok(ListRequest {
            context,
            state: state.transpose()?,
            since: since.transpose()?,
            page: page.ok_or_else(|| A2aError::params("pageSize", format!("A page has 1 to {MAX_PAGE} tasks")))?,
            before: before.transpose()?,
            history: history(self.history_length)?,
            has_artifacts: self.include_artifacts.unwrap_or(false),
        })
    }
}

/// Returns the token of the page after a task.
pub(super) fn token(ms: i64, task: &str) -> String {
    format!("{ms}.{task}")
}

fn read_token(token: &str) -> Option<(i64, String)> {
    let (ms, task) = token.split_once('.')?;
    Some((ms.parse().ok()?, task.to_owned())).filter(|_| token.len() <= MAX_ID)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskParams {
    id: String,
    #[serde(default, alias = "history_length")]
    history_length: Option<i64>,
}

impl Operation {
    /// Reads the parameters of a method of JSON-RPC.
    pub(super) fn of_method(method: &str, params: Option<Value>) -> Result<Operation, A2aError> {
        let params = params.unwrap_or_else(|| json!({}));
        match method {
            "SendMessage" => Operation::send(params, false),
            "SendStreamingMessage" => Operation::send(params, true),
            "GetTask" => {
                let TaskParams { id, history_length } = read(params)?;
                Ok(Operation::Get { task: id, history: history(history_length)? })
            }
            "ListTasks" => Ok(Operation::List(read::<ListParams>(params)?.checked()?)),
            "CancelTask" => Ok(Operation::Cancel { task: read::<TaskParams>(params)?.id }),
            "SubscribeToTask" => Ok(Operation::Subscribe { task: read::<TaskParams>(params)?.id }),
            "CreateTaskPushNotificationConfig"
            | "GetTaskPushNotificationConfig"
            | "ListTaskPushNotificationConfigs"
            | "DeleteTaskPushNotificationConfig" => Ok(Operation::Push),
            "GetExtendedAgentCard" => Ok(Operation::ExtendedCard),
            _ => Err(A2aError::new(
                ErrorKind::Method,
                "Method not found: see the methods of A2A 1.0, such as SendMessage",
            )),
        }
    }

    /// Reads a message that is sent.
    pub(super) fn send(params: Value, is_streamed: bool) -> Result<Operation, A2aError> {
        let request: SendRequest = read(params)?;
        request.check()?;
        Ok(Operation::Send { request: Box::new(request), is_streamed })
    }

    /// Reads the query of a request for one task.
    pub(super) fn get(task: &str, query: &Query) -> Result<Operation, A2aError> {
        Ok(Operation::Get { task: task.to_owned(), history: history(query.number("historyLength")?)? })
    }

    /// Reads the query of a request for many.
    pub(super) fn list(query: &Query) -> Result<Operation, A2aError> {
        let text = |name| query.text(name).map(str::to_owned);
        let include_artifacts = match query.text("includeArtifacts") {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) => return Err(A2aError::params("includeArtifacts", "Expected true or false")),
        };
        let params = ListParams {
            context_id: text("contextId"),
            status: text("status"),
            page_size: query.number("pageSize")?,
            page_token: text("pageToken"),
            history_length: query.number("historyLength")?,
            status_timestamp_after: text("statusTimestampAfter"),
            include_artifacts,
        };
        Ok(Operation::List(params.checked()?))
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, A2aError> {
    serde_json::from_value(params).map_err(|error| A2aError::form(&error))
}

/// Checks a number of messages.
fn history(length: Option<i64>) -> Result<Option<usize>, A2aError> {
    let fault = || A2aError::params("historyLength", "The number of messages is not 0 or more");
    length.map(|length| usize::try_from(length).map_err(|_| fault())).transpose()
}

fn check_id(field: &str, id: &str) -> Result<(), A2aError> {
    let is_right = !id.is_empty() && id.len() <= MAX_ID && !id.chars().any(char::is_control);
    let fault = || A2aError::params(field, format!("An id has 1 to {MAX_ID} bytes without control characters"));
    if is_right { Ok(()) } else { Err(fault()) }
}

/// Refuses push notifications.
pub(super) fn push_not_supported() -> A2aError {
    let message = "Push notifications are not supported: subscribe to the task, or get it again";
    A2aError::new(ErrorKind::PushNotSupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl FnOnce(&mut Value)) -> Value {
        let mut params = json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "hi" }] } });
        change(&mut params);
        params
    }

    fn refused(change: impl FnOnce(&mut Value)) -> ErrorKind {
        Operation::of_method("SendMessage", Some(message(change))).unwrap_err().kind
    }

    #[test]
    fn a_message_is_checked_before_anything_happens() {
        assert!(Operation::of_method("SendMessage", Some(message(|_| {}))).is_ok());
        assert_eq!(refused(|params| params["message"] = Value::Null), ErrorKind::Params);
        assert_eq!(refused(|params| params["message"]["parts"] = json!([])), ErrorKind::Params);
        assert_eq!(refused(|params| params["message"]["messageId"] = json!("")), ErrorKind::Params);
        assert_eq!(refused(|params| params["message"]["role"] = json!("ROLE_AGENT")), ErrorKind::Params);
        assert_eq!(refused(|params| params["message"]["taskId"] = json!("x".repeat(300))), ErrorKind::Params);
        assert_eq!(refused(|params| params["configuration"] = json!({ "historyLength": -1 })), ErrorKind::Params);
        let push = json!({ "taskPushNotificationConfig": { "url": "https://example.com" } });
        assert_eq!(refused(|params| params["configuration"] = push), ErrorKind::PushNotSupported);
    }

    #[test]
    fn only_a_caller_that_reads_no_text_wants_json() {
        let wants = |modes: Value| {
            let given = message(|params| params["configuration"] = json!({ "acceptedOutputModes": modes }));
            serde_json::from_value::<SendRequest>(given).unwrap().wants_json()
        };
        assert!(wants(json!(["application/json"])));
        assert!(
            !wants(json!([])) && !wants(json!(["text/plain"])) && !wants(json!(["application/json", "text/plain"]))
        );
    }

    #[test]
    fn methods_are_those_of_the_protocol() {
        for name in ["historyLength", "history_length"] {
            let named = Operation::of_method("GetTask", Some(json!({ "id": "t", name: 2 }))).unwrap();
            assert!(matches!(named, Operation::Get { history: Some(2), .. }), "{name}");
        }
        let task = Some(json!({ "id": "t", "historyLength": 2 }));
        let got = Operation::of_method("GetTask", task.clone()).unwrap();
        assert!(matches!(got, Operation::Get { task, history: Some(2) } if task == "t"));
        assert!(matches!(Operation::of_method("CancelTask", task), Ok(Operation::Cancel { .. })));
        assert!(matches!(Operation::of_method("GetExtendedAgentCard", None), Ok(Operation::ExtendedCard)));
        assert_eq!(Operation::of_method("GetTask", None).unwrap_err().kind, ErrorKind::Params);
        assert_eq!(Operation::of_method("message/send", None).unwrap_err().kind, ErrorKind::Method);
    }

    #[test]
    fn a_list_is_asked_for_alike_in_both_bindings() {
        let params = json!({ "contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 5, "pageToken": "12.task_1",
            "historyLength": 1, "statusTimestampAfter": "1970-01-01T00:00:01Z", "includeArtifacts": true });
        let Ok(Operation::List(rpc)) = Operation::of_method("ListTasks", Some(params)) else { panic!("no list") };
        let query = "contextId=c&status=TASK_STATE_WORKING&pageSize=5&pageToken=12.task_1&historyLength=1\
                     &statusTimestampAfter=1970-01-01T00%3A00%3A01Z&includeArtifacts=true";
        let Ok(Operation::List(http)) = Operation::list(&Query::parse(Some(query)).unwrap()) else { panic!("no list") };
        assert_eq!(rpc, http);
        assert_eq!((rpc.before, rpc.since), (Some((12, "task_1".to_owned())), Some(1000)));
        for wrong in ["pageSize=0", "pageSize=101", "pageSize=x", "status=WORKING", "historyLength=-1", "pageToken=x"] {
            let refused = Operation::list(&Query::parse(Some(wrong)).unwrap()).unwrap_err();
            assert_eq!(refused.kind, ErrorKind::Params, "{wrong}");
        }
        let default = Operation::list(&Query::default());
        assert!(matches!(default, Ok(Operation::List(ListRequest { page: DEFAULT_PAGE, .. }))));
    }
}
