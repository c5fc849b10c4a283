//! The client against a server of its own, over the same kind of stream.

use super::forms::FormClient;
use super::{BUFFER, SpaceTools};
use crate::approver::{ApprovalAnswer, ApprovalRequest, Approver, NoApprover};
use crate::tools::{ToolContext, ToolOutput, ToolRequest, Tools as _};
use agent_spaces_project::Outlines;
use agent_spaces_serve::{
    APPROVAL, Client, CodeMode, ElicitedDecisions, Mode, Offers, Overview, ToolOverview, serve_connection,
};
use agent_spaces_types::caller::Caller;
use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
    ElicitationSchema, ErrorData, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams,
    RequestMetaObject, ServerCapabilities, ServerConfig, ServerRequest, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A red dot.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// Server with a tool for each thing that can happen.
#[derive(Clone, Default)]
struct Fake {
    /// Notified when a request is cancelled.
    cancelled: Arc<Notify>,
}

impl Fake {
    /// Shows a form and returns what the client answers.
    async fn ask(&self, meta: Option<Value>, context: &RequestContext<RoleServer>) -> Value {
        let properties = json!({ "decision": { "type": "string", "enum": ["approve", "deny"] } });
        let schema = json!({ "type": "object", "properties": properties });
        let requested_schema: ElicitationSchema = serde_json::from_value(schema).unwrap();
        let form =
            ElicitRequestParams::FormElicitationParams { meta: None, message: "May it?".to_owned(), requested_schema };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
        let mut options = PeerRequestOptions::no_options();
        if let Some(meta) = meta {
            let meta = JsonObject::from_iter([(APPROVAL.to_owned(), meta)]);
            options = options.with_meta(RequestMetaObject::from(meta));
        }
        let asking = context.peer.send_cancellable_request(request, options).await.unwrap();
        serde_json::to_value(asking.await_response().await.unwrap()).unwrap()
    }
}

impl ServerHandler for Fake {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let config = ServerConfig::new(capabilities).with_server_info(Implementation::new("fake", "1.0.0"));
        config.with_instructions("Be quick.")
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let is_first = request.and_then(|request| request.cursor).is_none();
        let names: &[&str] = if is_first { &["say", "crm.draw"] } else { &["fail", "break", "wait", "ask", "phish"] };
        let tool = |name: &&str| Tool::new((*name).to_owned(), format!("Does {name}."), JsonObject::new());
        let mut page = ListToolsResult::with_all_items(names.iter().map(tool).collect());
        page.next_cursor = is_first.then(|| "2".to_owned());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |value: &Value| CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
        let approval = json!({ "id": "apr_1", "calls": [{ "function": "crm.send", "params": { "to": "ada" } }] });
        Ok(match &*request.name {
            "say" => text(&Value::Object(request.arguments.unwrap_or_default())),
            "crm.draw" => {
                CallToolResult::success(vec![ContentBlock::text("Drawn:"), ContentBlock::image(PNG, "image/png")])
            }
            "fail" => CallToolResult::error(vec![ContentBlock::text("there is no such ticket")]),
            "wait" => {
                context.ct.cancelled().await;
                self.cancelled.notify_one();
                return Err(ErrorData::internal_error("cancelled", None));
            }
            "ask" => text(&self.ask(Some(approval), &context).await),
            "phish" => text(&self.ask(None, &context).await),
            _ => return Err(ErrorData::internal_error("it broke", None)),
        }
        .into())
    }
}

/// A person who always says the same, and what they were asked.
struct Person {
    answer: ApprovalAnswer,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Approver for Person {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        self.asked.lock().unwrap().push(request);
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

async fn connected(approver: Arc<dyn Approver>) -> (SpaceTools, Arc<Notify>) {
    let (near, far) = tokio::io::duplex(BUFFER);
    let fake = Fake::default();
    let cancelled = fake.cancelled.clone();
    tokio::spawn(async move { fake.serve(tokio::io::split(far)).await.unwrap().waiting().await });
    let draw = ToolOverview { capability: "crm".to_owned(), observed: Some("{ dots: number }".to_owned()) };
    let overview = Overview { tools: [("crm.draw".to_owned(), draw)].into(), ..Overview::default() };
    (SpaceTools::over(near, FormClient::new(approver), &overview, false).await.unwrap(), cancelled)
}

fn context(timeout: Duration) -> ToolContext {
    ToolContext { cancel: CancellationToken::new(), timeout }
}

async fn call(tools: &SpaceTools, name: &str, arguments: Value) -> ToolOutput {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let request = ToolRequest { id: "call_1".to_owned(), name: name.to_owned(), arguments };
    tools.call(request, &context(Duration::from_secs(30))).await
}

#[tokio::test]
async fn all_pages_are_listed_under_names_that_models_accept() {
    let (tools, _) = connected(Arc::new(NoApprover)).await;
    let listed = tools.list();
    let names: Vec<&str> = listed.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["say", "crm_draw", "fail", "break", "wait", "ask", "phish"]);
    assert_eq!(listed[0].description, "Does say.");
    assert!(listed[1].description.contains("{ dots: number }"), "{}", listed[1].description);
    let instructions = tools.instructions();
    assert_eq!((instructions[0].of.as_str(), instructions[0].text.as_str()), ("fake", "Be quick."));
}

#[tokio::test]
async fn results_images_and_errors_reach_the_model() {
    let (tools, _) = connected(Arc::new(NoApprover)).await;
    let said = call(&tools, "say", json!({ "n": 1 })).await;
    assert_eq!((said.text.as_str(), said.is_error, said.server), (r#"{"n":1}"#, false, None));
    let drawn = call(&tools, "crm_draw", json!({})).await;
    assert_eq!((drawn.text.as_str(), drawn.server.as_deref()), ("Drawn:", Some("crm")));
    assert_eq!((drawn.images.len(), drawn.images[0].data.as_str()), (1, PNG));
    let failed = call(&tools, "fail", json!({})).await;
    assert!(failed.is_error && failed.text == "there is no such ticket", "{failed:?}");
    let broken = call(&tools, "break", json!({})).await;
    assert!(broken.is_error && broken.text == "it broke", "{broken:?}");
    // The server's own name is not the model's.
    let unknown = call(&tools, "crm.draw", json!({})).await;
    assert!(unknown.is_error && unknown.text.contains("no tool"), "{unknown:?}");
}

async fn notified(ended: &Notify) {
    tokio::time::timeout(Duration::from_secs(10), ended.notified()).await.unwrap();
}

#[tokio::test]
async fn a_cancelled_call_and_a_late_one_end_at_the_server_too() {
    let (tools, ended) = connected(Arc::new(NoApprover)).await;
    let request = || ToolRequest { id: "call_1".into(), name: "wait".into(), arguments: serde_json::Map::new() };
    let late = tools.call(request(), &context(Duration::from_millis(50))).await;
    assert!(late.is_error && late.text.contains("timed out"), "{late:?}");
    notified(&ended).await;
    let bounds = context(Duration::from_secs(30));
    let cancel = bounds.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let cancelled = tools.call(request(), &bounds).await;
    assert!(cancelled.is_error && cancelled.text.contains("cancelled"), "{cancelled:?}");
    notified(&ended).await;
    // Others go on.
    assert_eq!(call(&tools, "say", json!({})).await.text, "{}");
}

#[tokio::test]
async fn a_person_answers_the_approval_forms_of_the_server_and_no_others() {
    let answers = [
        (ApprovalAnswer::Approve { by: "ada".into() }, json!({ "decision": "approve", "lasts": "once" }), "accept"),
        (
            ApprovalAnswer::Deny { by: "ada".into(), reason: Some("too late".into()) },
            json!({ "decision": "deny", "reason": "too late" }),
            "accept",
        ),
        (ApprovalAnswer::Expired, Value::Null, "cancel"),
    ];
    for (answer, content, action) in answers {
        let person = Arc::new(Person { answer, asked: Mutex::default() });
        let (tools, _) = connected(person.clone()).await;
        let said: Value = serde_json::from_str(&call(&tools, "ask", json!({})).await.text).unwrap();
        assert_eq!((&said["action"], &said["content"]), (&json!(action), &content), "{said}");
        if action == "accept" {
            assert_eq!(said["_meta"]["agent-spaces/decidedBy"], "ada");
        }
        let asked = person.asked.lock().unwrap().clone();
        let call_asked = json!({ "function": "crm.send", "params": { "to": "ada" } });
        assert_eq!(asked, [ApprovalRequest { id: "apr_1".into(), message: "May it?".into(), call: call_asked }]);
        let phished: Value = serde_json::from_str(&call(&tools, "phish", json!({})).await.text).unwrap();
        assert_eq!(phished["action"], "decline");
        assert_eq!(person.asked.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn code_mode_has_three_tools() {
    let mode = Mode::Code(CodeMode::new(Offers::new(Outlines::none()), ElicitedDecisions::default()));
    let (near, far) = tokio::io::duplex(BUFFER);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(serve_connection(mode, Client::of_process(Caller::default()), input, output));
    let handler = FormClient::new(Arc::new(NoApprover));
    let tools = SpaceTools::over(near, handler, &Overview::default(), true).await.unwrap();
    let names: Vec<String> = tools.list().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["search_capabilities", "describe_capabilities", "run_code"]);
    assert!(tools.routes["run_code"].waits && !tools.routes["search_capabilities"].waits);
    assert!(tools.instructions()[0].text.contains("run_code"));
}
