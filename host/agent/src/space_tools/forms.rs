//! The client's side of approvals: forms of the server are answered by an [`Approver`].

use crate::approver::{ApprovalAnswer, ApprovalRequest, Approver};
use agent_spaces_serve::{APPROVAL, DECIDED_BY};
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, JsonObject, MetaObject, ProtocolVersion, RequestMetaObject,
};
use rmcp::service::{RequestContext, RoleClient};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Handler of the server's requests.
pub(super) struct FormClient {
    approver: Arc<dyn Approver>,
}

impl FormClient {
    pub(super) fn new(approver: Arc<dyn Approver>) -> FormClient {
        FormClient { approver }
    }

    /// Asks the approver, unless the server withdraws the form.
    async fn decide(&self, request: ApprovalRequest, withdrawn: &CancellationToken) -> ElicitResult {
        let answer = tokio::select! {
            biased;
            () = withdrawn.cancelled() => ApprovalAnswer::Expired,
            answer = self.approver.ask(request) => answer,
        };
        let (content, by) = match answer {
            ApprovalAnswer::Approve { by } => (json!({ "decision": "approve", "lasts": "once" }), by),
            ApprovalAnswer::Deny { by, reason: Some(reason) } => (json!({ "decision": "deny", "reason": reason }), by),
            ApprovalAnswer::Deny { by, reason: None } => (json!({ "decision": "deny" }), by),
            ApprovalAnswer::Expired => return ElicitResult::new(ElicitationAction::Cancel),
        };
        let meta = MetaObject(JsonObject::from_iter([(DECIDED_BY.to_owned(), Value::String(by))]));
        ElicitResult::new(ElicitationAction::Accept).with_content(content).with_meta(meta)
    }
}

/// Reads the approval of a form. Other forms have none: nothing but the server's mark makes a form an approval.
fn approval(form: ElicitRequestParams, meta: &RequestMetaObject) -> Option<ApprovalRequest> {
    let ElicitRequestParams::FormElicitationParams { message, .. } = form else { return None };
    let mark = meta.get(APPROVAL)?;
    let id = mark.get("id")?.as_str()?.to_owned();
    let calls = mark.get("calls")?.as_array()?;
    let call = match calls.as_slice() {
        [] => return None,
        [one] => one.clone(),
        several => Value::Array(several.to_vec()),
    };
    Some(ApprovalRequest { id, message, call })
}

impl ClientHandler for FormClient {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.approver.is_present() {
            let form = FormElicitationCapability::default();
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        }
        let client = Implementation::new("agent-spaces-agent", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, client).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match approval(request, &context.meta) {
            Some(request) if self.approver.is_present() => Ok(self.decide(request, &context.ct).await),
            _ => Ok(ElicitResult::new(ElicitationAction::Decline)),
        }
    }
}
