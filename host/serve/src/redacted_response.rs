//! Redaction of secrets in MCP responses.

use agent_spaces_calls::redaction::text;
use agent_spaces_secrets::Redactor;
use rmcp::model::{CallToolResponse, ContentBlock};

/// Removes secrets from a response. Approval forms are redacted before they get here.
pub(crate) fn redact(redactor: &Redactor, response: &mut CallToolResponse) {
    let CallToolResponse::Complete(result) = response else { return };
    if redactor.is_empty() {
        return;
    }
    for block in &mut result.content {
        // Other blocks were redacted when the server sent them.
        if let ContentBlock::Text(block) = block {
            text(redactor, &mut block.text);
        }
    }
    result.structured_content.iter_mut().for_each(|value| redactor.value(value));
}
