//! Agents as MCP tools, beside those of a server mode: one tool an agent, over every transport of the server.
//!
//! - `arguments`: arguments of a call
//! - `forms`: approvals through elicitation
//! - `progress`: progress notifications

mod arguments;
#[cfg(test)]
mod connection_tests;
mod forms;
mod progress;

use crate::failure::Failure;
use agent_spaces_agent::{AgentError, AgentService, AgentSummary, Outcome, OutputFormat, Question, Surface};
use agent_spaces_http_server::Client;
use agent_spaces_models::Message;
use agent_spaces_serve::ExtraTools;
use arguments::Arguments;
use forms::Forms;
use futures_util::future::BoxFuture;
use progress::Progress;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::Arc;

/// Name of the surface, for logs.
const SURFACE: &str = "mcp";

/// Agents as MCP tools: see [`Mode::with_tools`](agent_spaces_serve::Mode::with_tools). Clones share the limit.
#[derive(Clone)]
pub struct AgentTools(Surface);

impl AgentTools {
    /// Tools for the agents of a service, with this many questions at once; ten where none is given.
    pub fn new(service: &AgentService, limit: Option<usize>) -> AgentTools {
        AgentTools(service.surface(SURFACE, limit))
    }

    async fn answer(
        &self,
        client: &Client,
        agent: &AgentSummary,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let Arguments { question, output } =
            match Arguments::read(request.arguments.unwrap_or_default(), agent.schema.as_ref()) {
                Ok(arguments) => arguments,
                Err(fault) => return failed(&fault),
            };
        let is_json = match &output {
            Some(format) => matches!(format, OutputFormat::Json(_)),
            None => agent.schema.is_some(),
        };
        let (mut progress, watcher) = Progress::new(context);
        let mut forms = Forms::new(client, context);
        let question = Question {
            output,
            approver: forms.approver(),
            watcher,
            ..Question::new(client.clone(), agent.name.as_str(), vec![Message::user(question)])
        };
        // Dropped with the request, which cancels the question.
        let answering = self.0.ask(question);
        tokio::pin!(answering);
        loop {
            tokio::select! {
                answered = &mut answering => return result(answered, is_json),
                // Within the request: a client may have no other stream.
                () = forms.show() => {}
                () = progress.report() => {}
            }
        }
    }
}

impl ExtraTools for AgentTools {
    fn list(&self, client: &Client) -> Vec<Tool> {
        self.0.service().agents_of(client).iter().map(tool).collect()
    }

    fn call<'a>(
        &'a self,
        client: &'a Client,
        request: CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
    ) -> BoxFuture<'a, Option<CallToolResponse>> {
        Box::pin(async move {
            let agents = self.0.service().agents_of(client);
            let agent = agents.iter().find(|agent| agent.name == request.name)?;
            Some(self.answer(client, agent, request, context).await.into())
        })
    }
}

/// The tool of an agent.
fn tool(agent: &AgentSummary) -> Tool {
    let description = match agent.description.trim() {
        "" => format!("Ask the agent {}.", agent.name),
        description => format!("Ask the agent {}: {description}", agent.name),
    };
    let schema = match agent.schema {
        Some(_) => "JSON Schema of the answer, with the format `json`; without one that of the agent",
        None => "JSON Schema of the answer; required with the format `json`",
    };
    let input = json!({
        "type": "object",
        "properties": {
            "question": {
                "type": "string", "minLength": 1,
                "description": "The question, with everything that the agent must know: it has no memory of others",
            },
            "format": { "type": "string", "enum": ["text", "markdown", "json"], "description": "Form of the answer" },
            "schema": { "type": "object", "description": schema },
        },
        "required": ["question"], "additionalProperties": false,
    });
    let input = if let Value::Object(members) = input { Arc::new(members) } else { Arc::default() };
    // What an agent does depends on its space.
    let hints = ToolAnnotations::new().read_only(false).idempotent(false).open_world(true);
    Tool::new(agent.name.clone(), description, input).annotate(hints)
}

/// The result of a call.
fn result(answered: Result<Outcome, AgentError>, is_json: bool) -> CallToolResult {
    let outcome = match answered {
        Ok(outcome) => outcome,
        Err(error) => return failed(&Failure::of_error(&error).message),
    };
    if let Some(failure) = Failure::of_outcome(&outcome) {
        return failed(&failure.message);
    }
    let value = match (is_json, outcome.value) {
        (false, _) => return CallToolResult::success(vec![ContentBlock::text(outcome.text)]),
        (true, Some(value)) => value,
        (true, None) => return failed("The answer is not the JSON that was asked for: it was cut or refused"),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    // Structured content is an object.
    result.structured_content = Some(if value.is_object() { value } else { json!({ "result": value }) });
    result
}

fn failed(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

#[cfg(test)]
mod tests {
    use super::{result, tool};
    use agent_spaces_agent::{AgentError, AgentSummary, Ending, Outcome};
    use agent_spaces_models::Usage;
    use serde_json::{Value, json};

    fn outcome(ending: Ending, value: Option<Value>) -> Outcome {
        Outcome {
            session: String::new(),
            text: "*one*".to_owned(),
            value,
            ending,
            message: None,
            calls: Vec::new(),
            turns: 1,
            usage: Usage::default(),
            cost: None,
            model: None,
        }
    }

    #[test]
    fn an_agent_is_a_tool_with_its_name() {
        let agent = AgentSummary { name: "planner".to_owned(), description: "plans".to_owned(), schema: None };
        let tool = tool(&agent);
        assert_eq!((&*tool.name, tool.description.as_deref()), ("planner", Some("Ask the agent planner: plans")));
        assert_eq!(tool.input_schema["required"], json!(["question"]));
    }

    #[test]
    fn answers_are_text_or_structured() {
        let text = serde_json::to_value(result(Ok(outcome(Ending::Done, None)), false)).unwrap();
        assert_eq!(text["content"][0]["text"], "*one*");
        assert_eq!(text.get("structuredContent"), None);
        let object = serde_json::to_value(result(Ok(outcome(Ending::Done, Some(json!({ "n": 1 })))), true)).unwrap();
        assert_eq!(
            (&object["structuredContent"], &object["content"][0]["text"]),
            (&json!({ "n": 1 }), &json!("{\"n\":1}"))
        );
        let list = serde_json::to_value(result(Ok(outcome(Ending::Done, Some(json!([1])))), true)).unwrap();
        assert_eq!(list["structuredContent"], json!({ "result": [1] }));
    }

    #[test]
    fn failures_are_results_with_an_error() {
        for failed in [
            result(Ok(outcome(Ending::Budget, None)), false),
            result(Ok(outcome(Ending::Length, None)), true),
            result(Err(AgentError::Busy), false),
        ] {
            assert_eq!(failed.is_error, Some(true));
        }
    }
}
