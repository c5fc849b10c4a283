//! Audit log entries of API actions: caller, action and subject, without contents and arguments.

use crate::time;
use crate::who::Who;
use serde::Serialize;

/// Longest path in an entry, in bytes: longer ones are no paths of files.
const MAX_PATH: usize = 4_096;

/// Kind of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Action {
    #[serde(rename = "space.created")]
    SpaceCreated,
    #[serde(rename = "space.changed")]
    SpaceChanged,
    #[serde(rename = "space.deleted")]
    SpaceDeleted,
    /// The server ended a space whose time is over.
    #[serde(rename = "space.expired")]
    SpaceExpired,
    /// The webhook of a space was changed.
    #[serde(rename = "webhook.changed")]
    WebhookChanged,
    #[serde(rename = "run.created")]
    RunCreated,
    #[serde(rename = "run.cancelled")]
    RunCancelled,
    #[serde(rename = "run.resumed")]
    RunResumed,
    #[serde(rename = "call.answered")]
    CallAnswered,
    #[serde(rename = "approval.decided")]
    ApprovalDecided,
    #[serde(rename = "program.published")]
    ProgramPublished,
    #[serde(rename = "program.deleted")]
    ProgramDeleted,
    #[serde(rename = "file.written")]
    FileWritten,
    #[serde(rename = "file.deleted")]
    FileDeleted,
    /// The tools of an MCP server were accepted.
    #[serde(rename = "server.accepted")]
    ServerAccepted,
    /// The caller signed in to the console.
    #[serde(rename = "session.created")]
    SessionCreated,
    /// The caller signed out.
    #[serde(rename = "session.ended")]
    SessionEnded,
}

/// Things that an action is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Subject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) space_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// Number of a call in its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval_id: Option<String>,
    /// Name of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// Name of a program, with the number of its version if there is one: `report@3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// Path of a file, from the workspace of its space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Name of an MCP server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    /// `approve` or `deny`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<&'static str>,
    /// Person who decides, as the caller names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
}

/// Entry of an action. It is JSON to the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "apiAction", rename_all = "camelCase")]
pub struct ApiAction {
    action: Action,
    /// Time, as RFC 3339.
    timestamp: String,
    /// Name of the caller; missing for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    /// True for the operator.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    operator: bool,
    #[serde(flatten)]
    subject: Subject,
}

impl Subject {
    /// A space.
    pub(crate) fn space(id: &str) -> Subject {
        Subject { space_id: Some(id.to_owned()), ..Subject::default() }
    }

    /// A run.
    pub(crate) fn run(id: &str) -> Subject {
        Subject { run_id: Some(id.to_owned()), ..Subject::default() }
    }

    /// A program, or a version of one.
    pub(crate) fn program(name: impl Into<String>) -> Subject {
        Subject { program: Some(name.into()), ..Subject::default() }
    }

    /// A file of a space.
    pub(crate) fn file(space: &str, path: &str) -> Subject {
        let end = path.floor_char_boundary(MAX_PATH);
        Subject { path: path.get(..end).map(str::to_owned), ..Subject::space(space) }
    }
}

impl ApiAction {
    /// Action of a caller, now.
    pub(crate) fn new(who: &Who, action: Action, subject: Subject) -> ApiAction {
        ApiAction::of(who.owner(), who.is_operator(), action, subject)
    }

    /// Action of the server on what an owner has, now.
    pub(crate) fn of_owner(owner: &str, action: Action, subject: Subject) -> ApiAction {
        ApiAction::of(owner, owner.is_empty(), action, subject)
    }

    fn of(owner: &str, operator: bool, action: Action, subject: Subject) -> ApiAction {
        let caller = Some(owner.to_owned()).filter(|owner| !operator && !owner.is_empty());
        ApiAction { action, timestamp: time::format(time::now_ms()), caller, operator, subject }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, ApiAction, MAX_PATH, Subject};
    use crate::who::Who;
    use agent_spaces_http_server::Client;
    use agent_spaces_types::caller::Caller;
    use serde_json::json;

    fn ann() -> Who {
        Who(Client::named("ann", Caller { name: Some("ann".to_owned()), ..Caller::default() }))
    }

    #[test]
    fn an_entry_names_the_caller_or_the_operator_and_the_subject() {
        let mut entry =
            serde_json::to_value(ApiAction::new(&ann(), Action::FileWritten, Subject::file("spc_1", "a/b"))).unwrap();
        let time = entry.as_object_mut().unwrap().remove("timestamp").unwrap();
        assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
        let expected = json!({ "type": "apiAction", "action": "file.written", "caller": "ann", "spaceId": "spc_1", "path": "a/b" });
        assert_eq!(entry, expected);

        let operator = Who(Client::of_process(Caller::default()));
        let decided = Subject {
            approval_id: Some("apr_1".to_owned()),
            decision: Some("deny"),
            by: Some("Eva".to_owned()),
            ..Subject::run("run_1")
        };
        let mut entry = serde_json::to_value(ApiAction::new(&operator, Action::ApprovalDecided, decided)).unwrap();
        entry.as_object_mut().unwrap().remove("timestamp");
        let expected = json!({
            "type": "apiAction", "action": "approval.decided", "operator": true,
            "runId": "run_1", "approvalId": "apr_1", "decision": "deny", "by": "Eva",
        });
        assert_eq!(entry, expected);
    }

    #[test]
    fn an_owner_without_a_name_is_the_operator() {
        let entry =
            |owner| serde_json::to_value(ApiAction::of_owner(owner, Action::SpaceExpired, Subject::space("spc_1")));
        let (operator, ann) = (entry("").unwrap(), entry("ann").unwrap());
        assert_eq!((&operator["operator"], operator.get("caller")), (&json!(true), None));
        assert_eq!((ann.get("operator"), &ann["caller"]), (None, &json!("ann")));
    }

    #[test]
    fn a_path_is_cut_between_characters() {
        let path = format!("{}ü", "a".repeat(MAX_PATH - 1));
        assert_eq!(Subject::file("spc_1", &path).path.unwrap().len(), MAX_PATH - 1);
    }
}
