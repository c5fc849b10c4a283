//! Objects of the protocol, with the members that are used here. Others are ignored.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    #[serde(rename = "ROLE_USER")]
    User,
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

/// A message of a caller or of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) message_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) context_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) task_id: Option<String>,
    pub(super) role: Role,
    pub(super) parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Map<String, Value>>,
}

impl Message {
    /// A message of an agent.
    pub(super) fn of_agent(context: &str, task: &str, parts: Vec<Part>) -> Message {
        Message {
            message_id: crate::ids::new("msg_"),
            context_id: Some(context.to_owned()),
            task_id: Some(task.to_owned()),
            role: Role::Agent,
            parts,
            metadata: None,
        }
    }

    /// The context that a caller names. Empty is as good as absent.
    pub(super) fn context(&self) -> Option<&str> {
        self.context_id.as_deref().filter(|id| !id.is_empty())
    }

    /// The task that a caller names.
    pub(super) fn task(&self) -> Option<&str> {
        self.task_id.as_deref().filter(|id| !id.is_empty())
    }
}

/// A part of a message or of an artifact. One of `text`, `raw`, `url` and `data` is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// Bytes in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) raw: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) filename: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) media_type: Option<String>,
}

impl Part {
    pub(super) fn text(text: impl Into<String>) -> Part {
        Part { text: Some(text.into()), ..Part::default() }
    }

    pub(super) fn data(data: Value) -> Part {
        Part { data: Some(data), ..Part::default() }
    }
}

/// Artifact: output of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Artifact {
    pub(super) artifact_id: String,
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
}

/// State of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum TaskState {
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    #[serde(rename = "TASK_STATE_REJECTED")]
    Rejected,
    #[serde(rename = "TASK_STATE_AUTH_REQUIRED")]
    AuthRequired,
}

impl TaskState {
    /// Returns true if nothing comes after it.
    pub(super) fn is_over(self) -> bool {
        matches!(self, TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected)
    }

    /// Returns true if the task goes on by itself.
    pub(super) fn is_going(self) -> bool {
        matches!(self, TaskState::Submitted | TaskState::Working)
    }
}

/// State of a task since a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskStatus {
    pub(super) state: TaskState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message>,
    pub(super) timestamp: String,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) context_id: String,
    pub(super) status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) artifacts: Option<Vec<Artifact>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<Message>,
}

impl Task {
    /// Keeps the newest messages; all where no number is given.
    #[must_use]
    pub(super) fn with_history(mut self, most: Option<usize>) -> Task {
        let surplus = self.history.len().saturating_sub(most.unwrap_or(usize::MAX));
        self.history.drain(..surplus);
        self
    }
}

/// One event of a stream.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StreamEvent<'a> {
    Task(&'a Task),
    StatusUpdate(StatusUpdate<'a>),
    ArtifactUpdate(ArtifactUpdate<'a>),
}

/// A change of the status.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusUpdate<'a> {
    pub(super) task_id: &'a str,
    pub(super) context_id: &'a str,
    pub(super) status: &'a TaskStatus,
}

/// More of an artifact, or another one in its place.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactUpdate<'a> {
    pub(super) task_id: &'a str,
    pub(super) context_id: &'a str,
    pub(super) artifact: &'a Artifact,
    pub(super) append: bool,
    pub(super) last_chunk: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_have_the_names_of_the_protocol() {
        let status = TaskStatus { state: TaskState::InputRequired, message: None, timestamp: "t".to_owned() };
        let artifact = Artifact { artifact_id: "a".into(), name: "n".into(), parts: vec![Part::text("x")] };
        let task = Task {
            id: "1".into(),
            context_id: "2".into(),
            status: status.clone(),
            artifacts: Some(vec![artifact.clone()]),
            history: vec![Message::of_agent("2", "1", vec![Part::data(json!({ "b": 1 }))])],
        };
        let mut text = json!(StreamEvent::Task(&task));
        text["task"]["history"][0]["messageId"] = json!("m");
        let state = "TASK_STATE_INPUT_REQUIRED";
        let message = json!({ "messageId": "m", "contextId": "2", "taskId": "1", "role": "ROLE_AGENT", "parts": [{ "data": { "b": 1 } }] });
        assert_eq!(
            text,
            json!({ "task": { "id": "1", "contextId": "2", "status": { "state": state, "timestamp": "t" },
                "artifacts": [{ "artifactId": "a", "name": "n", "parts": [{ "text": "x" }] }], "history": [message] } })
        );
        let update = StatusUpdate { task_id: "1", context_id: "2", status: &status };
        assert_eq!(
            json!(StreamEvent::StatusUpdate(update)),
            json!({ "statusUpdate": { "taskId": "1", "contextId": "2", "status": { "state": state, "timestamp": "t" } } })
        );
        let update =
            ArtifactUpdate { task_id: "1", context_id: "2", artifact: &artifact, append: true, last_chunk: false };
        assert_eq!(json!(StreamEvent::ArtifactUpdate(update))["artifactUpdate"]["lastChunk"], json!(false));
    }

    #[test]
    fn a_message_is_read_with_members_that_are_unknown() {
        let given = json!({ "messageId": "m", "role": "ROLE_USER", "contextId": "", "extensions": ["x"],
            "parts": [{ "raw": "AA==", "mediaType": "image/png", "zzz": 1 }] });
        let message: Message = serde_json::from_value(given).unwrap();
        assert_eq!((message.context(), message.task()), (None, None));
        assert_eq!(message.parts[0].media_type.as_deref(), Some("image/png"));
        assert!(serde_json::from_value::<Message>(json!({ "messageId": "m", "role": "user", "parts": [] })).is_err());
    }

    #[test]
    fn history_is_cut_from_its_oldest_end() {
        let message = |text: &str| Message::of_agent("c", "t", vec![Part::text(text)]);
        let task = Task {
            id: "t".into(),
            context_id: "c".into(),
            status: TaskStatus { state: TaskState::Working, message: None, timestamp: String::new() },
            artifacts: None,
            history: vec![message("one"), message("two")],
        };
        assert_eq!(task.clone().with_history(None).history.len(), 2);
        assert_eq!(task.clone().with_history(Some(1)).history[0].parts, [Part::text("two")]);
        let none = json!(task.with_history(Some(0)));
        assert!(none.get("history").is_none() && none.get("artifacts").is_none());
    }
}
