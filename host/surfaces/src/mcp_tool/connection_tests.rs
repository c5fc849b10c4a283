//! Tools of agents over a connection, with a client that shows forms.

use super::AgentTools;
use crate::testing::{Scripted, Step, ann, eve};
use agent_spaces_agent::OutputFormat;
use agent_spaces_http_server::Client;
use agent_spaces_serve::ExtraTools as _;
use agent_spaces_types::caller::Caller;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleClient, RunningService};
use rmcp::{ClientHandler, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// A server with the tools of agents alone.
struct Server {
    tools: AgentTools,
    client: Client,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("server", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.list(&self.client)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = self.tools.call(&self.client, request, &context).await;
        answer.ok_or_else(|| ErrorData::invalid_params("unknown tool", None))
    }
}

/// A person who says the same in every form.
struct Person {
    decision: &'static str,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let form = FormElicitationCapability::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        let client = Implementation::new("client", "1.0.0");
        ClientConfig::new(capabilities, client).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("{request:?}") };
        self.asked.lock().unwrap().push(message);
        let mut said = ElicitResult::new(ElicitationAction::Accept);
        said.content = Some(json!({ "decision": self.decision }));
        Ok(said)
    }
}

/// A connection of a caller, with what its person was asked.
struct Connected {
    connection: RunningService<RoleClient, Person>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Connected {
    async fn new(scripted: &Arc<Scripted>, client: Client, decision: &'static str) -> Connected {
        let (near, far) = tokio::io::duplex(64 << 10);
        let server = Server { tools: AgentTools::new(&scripted.service(), None), client };
        tokio::spawn(async move { server.serve(tokio::io::split(far)).await.unwrap().waiting().await });
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let person = Person { decision, asked: asked.clone() };
        let connection = rmcp::serve_client(person, tokio::io::split(near)).await.unwrap();
        Connected { connection, asked }
    }

    /// Asks the agent. Returns the result of the call; `None` if there is no such tool.
    async fn ask(&self) -> Option<Value> {
        let arguments = JsonObject::from_iter([("question".to_owned(), json!("Pay it."))]);
        let call = CallToolRequestParams::new("planner").with_arguments(arguments);
        let result = self.connection.call_tool(call).await.ok()?;
        Some(serde_json::to_value(result).unwrap())
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn pays() -> Arc<Scripted> {
    Scripted::new(OutputFormat::Text, vec![Step::Calls("", "pay", json!({})), Step::Says("Done.")])
}

/// Result of the call, as the model gets it.
fn told(scripted: &Scripted) -> String {
    format!("{:?}", scripted.requests()[1].messages.last())
}

#[tokio::test]
async fn a_call_waits_for_the_person_at_the_client() {
    for (decision, outcome) in [("approve", "paid, says the client"), ("deny", "denied")] {
        let scripted = pays();
        let connected = Connected::new(&scripted, ann(), decision).await;
        let answer = connected.ask().await.unwrap();
        assert_eq!(answer["content"][0]["text"], "Done.", "{answer}");
        assert_eq!(connected.asked(), ["Pay?"], "{decision}");
        assert!(told(&scripted).contains(outcome), "{}", told(&scripted));
    }
}

#[tokio::test]
async fn a_caller_that_may_not_approve_is_not_asked() {
    let scripted = pays();
    let connected = Connected::new(&scripted, Client::named("bob", Caller::default()), "approve").await;
    connected.ask().await.unwrap();
    assert!(connected.asked().is_empty());
    assert!(told(&scripted).contains("denied"), "{}", told(&scripted));
}

#[tokio::test]
async fn agents_are_tools_of_those_who_may_ask_them() {
    let scripted = Scripted::new(OutputFormat::Text, vec![Step::Says("Hello.")]);
    let anns = Connected::new(&scripted, ann(), "deny").await;
    assert_eq!(anns.connection.list_all_tools().await.unwrap().len(), 1);
    let eves = Connected::new(&scripted, eve(), "deny").await;
    assert!(eves.connection.list_all_tools().await.unwrap().is_empty());
    assert_eq!(eves.ask().await, None);
    assert!(scripted.requests().is_empty());
    assert_eq!(anns.ask().await.unwrap()["content"][0]["text"], "Hello.");
}
