//! Approvals through elicitation: a form at the client, for the person there.

use agent_spaces_agent::{ApprovalAnswer, ApprovalRequest, Approver, NoApprover};
use agent_spaces_http_server::Client;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Forms that wait to be shown. An agent makes few calls at once.
const MAX_QUEUED: usize = 16;

/// Maximum length of a reason.
const MAX_REASON: usize = 500;

/// Forms of one request.
pub(super) struct Forms {
    client: Client,
    peer: Peer<RoleServer>,
    /// `None` if nobody can be asked at the client.
    sender: Option<mpsc::Sender<Form>>,
    queued: mpsc::Receiver<Form>,
    open: FuturesUnordered<BoxFuture<'static, ()>>,
}

/// A question to the person, and where the answer goes.
struct Form {
    request: ApprovalRequest,
    answer: oneshot::Sender<ApprovalAnswer>,
}

impl Forms {
    pub(super) fn new(client: &Client, context: &RequestContext<RoleServer>) -> Forms {
        let (sender, queued) = mpsc::channel(MAX_QUEUED);
        let sender = can_ask(client, context).then_some(sender);
        Forms { client: client.clone(), peer: context.peer.clone(), sender, queued, open: FuturesUnordered::new() }
    }

    /// Returns who is asked about calls of the question.
    pub(super) fn approver(&self) -> Arc<dyn Approver> {
        match &self.sender {
            Some(sender) => Arc::new(FormApprover(sender.clone())),
            None => Arc::new(NoApprover),
        }
    }

    /// Shows the next form, or ends one that was answered. Cancel safe.
    pub(super) async fn show(&mut self) {
        if self.sender.is_none() {
            return std::future::pending().await;
        }
        tokio::select! {
            form = self.queued.recv() => if let Some(form) = form {
                self.open.push(Box::pin(ask(self.client.clone(), self.peer.clone(), form)));
            },
            _ = self.open.next(), if !self.open.is_empty() => {}
        }
    }
}

/// Returns true if the person at the client can be asked. Clients of newer versions of the protocol get forms only as
/// results, after which they repeat their request; an agent would be asked again.
fn can_ask(client: &Client, context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    let has_forms = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
    let has_requests = context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
    has_forms && has_requests && client.may_approve()
}

/// Hands questions to the request's own task: what it sends to the client is sent on the request's stream.
struct FormApprover(mpsc::Sender<Form>);

impl Approver for FormApprover {
    fn ask<'a>(&'a self, request: ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            // Fails if the request has ended, which ends the question too.
            let _ended = self.0.send(Form { request, answer }).await;
            answered.await.unwrap_or(ApprovalAnswer::Expired)
        })
    }
}

/// Shows a form until it is answered or withdrawn.
async fn ask(client: Client, peer: Peer<RoleServer>, form: Form) {
    let Form { request, mut answer } = form;
    let Some(params) = params(request.message) else { return };
    let elicit = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let Ok(mut asking) = peer.send_cancellable_request(elicit, PeerRequestOptions::no_options()).await else { return };
    let said = tokio::select! {
        said = &mut asking.rx => Some(said),
        () = answer.closed() => None,
    };
    match said {
        Some(Ok(Ok(ClientResult::ElicitResult(said)))) => {
            let _withdrawn = answer.send(decision(&client, &said));
        }
        Some(_) => {}
        None => {
            let why = "decided elsewhere, withdrawn or expired".to_owned();
            let _the_client_may_be_gone = asking.cancel(Some(why)).await;
        }
    }
}

fn params(message: String) -> Option<ElicitRequestParams> {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Decision", "enum": ["approve", "deny"], "default": "deny" },
            "reason": { "type": "string", "title": "Reason, for the agent", "maxLength": MAX_REASON },
        },
        "required": ["decision"],
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Evaluates an answer. Only a form that was sent with `approve` approves.
fn decision(client: &Client, said: &ElicitResult) -> ApprovalAnswer {
    let by = client.person();
    let member = |name: &str| said.content.as_ref().and_then(|content| content.get(name)).and_then(Value::as_str);
    match said.action {
        ElicitationAction::Accept if member("decision") == Some("approve") => ApprovalAnswer::Approve { by },
        ElicitationAction::Accept | ElicitationAction::Decline => {
            let reason = member("reason").map(|reason| reason.chars().take(MAX_REASON).collect::<String>());
            ApprovalAnswer::Deny { by, reason: reason.filter(|reason| !reason.trim().is_empty()) }
        }
        _ => ApprovalAnswer::Expired,
    }
}

#[cfg(test)]
mod tests {
    use super::{decision, params};
    use agent_spaces_agent::ApprovalAnswer;
    use agent_spaces_http_server::Client;
    use agent_spaces_types::caller::Caller;
    use rmcp::model::{ElicitResult, ElicitationAction};
    use serde_json::{Value, json};

    fn decided(action: ElicitationAction, content: Option<Value>) -> ApprovalAnswer {
        let mut said = ElicitResult::new(action);
        said.content = content;
        decision(&Client::of_process(Caller::default()), &said)
    }

    #[test]
    fn only_an_explicit_approval_approves() {
        let by = || "the client".to_owned();
        let approve = Some(json!({ "decision": "approve" }));
        assert_eq!(decided(ElicitationAction::Accept, approve.clone()), ApprovalAnswer::Approve { by: by() });
        let deny = |reason: Option<&str>| ApprovalAnswer::Deny { by: by(), reason: reason.map(str::to_owned) };
        assert_eq!(decided(ElicitationAction::Decline, approve), deny(None));
        assert_eq!(decided(ElicitationAction::Accept, None), deny(None));
        assert_eq!(decided(ElicitationAction::Accept, Some(json!({ "decision": true }))), deny(None));
        let with_reason = Some(json!({ "decision": "deny", "reason": "not today" }));
        assert_eq!(decided(ElicitationAction::Accept, with_reason), deny(Some("not today")));
        assert_eq!(decided(ElicitationAction::Cancel, None), ApprovalAnswer::Expired);
    }

    #[test]
    fn the_form_is_one_that_clients_can_show() {
        assert!(params("May it?".to_owned()).is_some());
    }
}
