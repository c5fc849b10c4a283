//! `use_tool`

use super::errors::ToolboxError;
use super::{ToolboxMode, USE};
use crate::serve::caller::Client;
use crate::serve::calls::{Outcome, Wanted};
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
        let Some(found) = tools.iter().find(|each| each.name == tool) else {
            let visible = tools.iter().filter(|each| opened.space.is_open(&each.card.known(), client.caller()));
            let known = visible.map(|each| each.name.clone()).collect();
            return Err(ToolboxError::NoTool { toolbox, server, tool, known });
        };
        let (params, max_bytes) = (Value::Object(arguments), opened.limits.call_bytes);
        let wanted = Wanted { space: &opened.space, card: &found.card, params, max_bytes };
        match self.0.calls.make(client, wanted, request, context).await {
            Outcome::Whole(result) => Ok((*result).into()),
            Outcome::Asks(asks) => Ok(asks),
            Outcome::Failed(error) => Err(ToolboxError::Failed { toolbox, server, tool, error }),
            // Content of a kind that this protocol does not know.
            Outcome::Value(value) => Ok(CallToolResult::success(vec![ContentBlock::text(value.to_string())]).into()),
        }
    }
}
