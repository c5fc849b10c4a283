//! `use_tool`

use super::errors::ToolboxError;
use super::open_toolboxes::OpenTool;
use super::{ToolboxMode, USE};
use crate::calls::{CallTarget, Outcome};
use agent_spaces_http_server::Client;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UseArguments {
    tool: ToolIdentifier,
    #[serde(default)]
    arguments: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolIdentifier {
    toolbox: String,
    server: String,
    tool: String,
}

impl ToolboxMode {
    pub(super) async fn use_tool(
        &self,
        client: &Client,
        UseArguments { tool: ToolIdentifier { toolbox, server, tool }, arguments }: UseArguments,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ToolboxError> {
        let parts = [("toolbox", &toolbox), ("server", &server), ("tool", &tool)];
        if let Some((part, _)) = parts.iter().find(|(_, text)| text.is_empty()) {
            let message = format!("`tool.{part}` must not be empty");
            return Err(ToolboxError::Arguments { tool: USE, message });
        }
        self.0.toolboxes.get(&toolbox)?;
        let Some(opened) = self.0.opened.get(client, &toolbox).await else {
            return Err(ToolboxError::NotOpen { toolbox });
        };
        let Some(tools) = opened.tools.get(&server) else {
            let known = opened.tools.keys().cloned().collect();
            return Err(ToolboxError::NoServer { toolbox, server, known });
        };
        let is_visible = |each: &OpenTool| opened.space.is_open(&each.card.known(), client.caller());
        let not_there = |toolbox: String, server: String, tool: String| {
            let known = tools.iter().filter(|each| is_visible(each)).map(|each| each.name.clone()).collect();
            ToolboxError::NoTool { toolbox, server, tool, known }
        };
        let Some(found) = tools.iter().find(|each| each.name == tool) else {
            return Err(not_there(toolbox, server, tool));
        };
        let is_hidden = !is_visible(found);
        let (params, max_bytes) = (Value::Object(arguments), opened.limits.call_bytes);
        let (space, card) = (&opened.space, &found.card);
        let target = CallTarget { space, toolbox: Some(&toolbox), card, params, max_bytes, turns: None };
        match self.0.calls.make(client, target, request, context).await {
            Outcome::Whole(result) => Ok((*result).into()),
            Outcome::InputRequired(response) => Ok(response),
            // A call of a hidden tool is refused and logged like any other, and reported as not found.
            Outcome::Failed(_) if is_hidden => Err(not_there(toolbox, server, tool)),
            Outcome::Failed(error) => Err(ToolboxError::Failed { toolbox, server, tool, error }),
            // Content of a type that this protocol version does not have.
            Outcome::Value(value) => Ok(CallToolResult::success(vec![ContentBlock::text(value.to_string())]).into()),
        }
    }
}
