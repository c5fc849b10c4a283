//! Messages of clients: size limits and decoding.

use agent_spaces_types::json_memory;
use rmcp::model::ClientJsonRpcMessage;
use serde::de::IgnoredAny;
use std::time::Duration;

/// Maximum size of a message, and the time in which the body of a request must arrive.
pub(super) const MAX_BODY: usize = 4 << 20;
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of JSON values in a message. Each takes some hundred bytes and is copied while a message is parsed,
/// so that four megabytes of brackets would take a gigabyte.
const MAX_VALUES: usize = 250_000;

/// Error of parsing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageFault {
    NotJson,
    TooManyValues,
    NotMcp,
}

impl MessageFault {
    /// Returns the code of the JSON-RPC error.
    pub(super) fn code(self) -> i32 {
        match self {
            MessageFault::NotJson => -32700,
            MessageFault::TooManyValues | MessageFault::NotMcp => -32600,
        }
    }

    /// Returns the text of the error.
    pub(super) fn text(self) -> &'static str {
        match self {
            MessageFault::NotJson => "Parse error: the request is not JSON",
            MessageFault::TooManyValues => "Request body too large (at most 250000 JSON values)",
            MessageFault::NotMcp => "Invalid request: not an MCP message",
        }
    }
}

/// Checks that a text is JSON, without storing it.
pub(super) fn check_json(text: &[u8]) -> Result<(), MessageFault> {
    serde_json::from_slice::<IgnoredAny>(text).map(|_| ()).map_err(|_| MessageFault::NotJson)
}

/// Checks the number of values.
pub(super) fn check_values(text: &[u8]) -> Result<(), MessageFault> {
    if json_memory::has_more_values(text, MAX_VALUES) { Err(MessageFault::TooManyValues) } else { Ok(()) }
}

/// Decodes a message.
pub(super) fn decode(text: &[u8]) -> Result<ClientJsonRpcMessage, MessageFault> {
    check_json(text)?;
    check_values(text)?;
    serde_json::from_slice(text).map_err(|_| MessageFault::NotMcp)
}

#[cfg(test)]
mod tests {
    use crate::http::message::*;

    #[test]
    fn only_messages_within_the_limits_are_decoded() {
        assert!(decode(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_ok());
        let fault = |text: &[u8]| decode(text).err();
        assert_eq!(fault(b"{"), Some(MessageFault::NotJson));
        assert_eq!(fault(br#"{"a":1}"#), Some(MessageFault::NotMcp));
        let many =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":[{}0]}}}}"#, "0,".repeat(MAX_VALUES));
        assert_eq!(fault(many.as_bytes()), Some(MessageFault::TooManyValues));
    }
}
