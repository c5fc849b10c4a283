//! Bytes of a server, as messages. All transports read through here.

use super::excerpt::beginning;
use super::scan::AnswerScanner;
use super::{MALFORMED, TOO_LARGE, legacy};
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

/// What some bytes of a server are.
#[derive(Debug)]
pub enum Decoded {
    /// These messages: one, or those of a batch; none if there was only white space.
    /// An answer that cannot be understood is here as an error with the code [`MALFORMED`] to the same request.
    Messages(Vec<RxJsonRpcMessage<RoleClient>>),
    /// No message of JSON-RPC. This is how it begins; whoever shows it takes out the secrets and cuts it shorter.
    Noise(String),
}

/// Reads what a server sent. The caller bounds its size.
pub fn decode(bytes: &[u8]) -> Decoded {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Decoded::Messages(Vec::new());
    }
    let messages: Vec<_> = match serde_json::from_slice(bytes) {
        Ok(Value::Array(batch)) => batch.into_iter().filter_map(message).collect(),
        Ok(value) => message(value).into_iter().collect(),
        Err(error) => {
            let mut scanner = AnswerScanner::default();
            scanner.feed(bytes);
            scanner.answers().into_iter().map(|id| malformed(id, &error.to_string())).collect()
        }
    };
    if messages.is_empty() { Decoded::Noise(beginning(bytes)) } else { Decoded::Messages(messages) }
}

/// What is told to the caller instead of an answer that is too large.
pub fn too_large(id: RequestId, limit: usize) -> RxJsonRpcMessage<RoleClient> {
    let text = format!("the server's answer is larger than {limit} bytes");
    JsonRpcMessage::error(ErrorData::new(ErrorCode(TOO_LARGE), text, None), Some(id))
}

/// What is told to the caller instead of an answer that makes no sense.
pub fn malformed(id: RequestId, why: &str) -> RxJsonRpcMessage<RoleClient> {
    JsonRpcMessage::error(ErrorData::new(ErrorCode(MALFORMED), why.to_owned(), None), Some(id))
}

fn message(mut value: Value) -> Option<RxJsonRpcMessage<RoleClient>> {
    legacy::normalise(&mut value);
    // Reading consumes the value, which may be large: what is needed to explain a failure is taken out before.
    let doubts = Doubts::of(&value);
    if let Some(doubts) = doubts.as_ref().filter(|doubts| doubts.why == NO_OBJECT) {
        // The SDK reads a list as the members of an object in their order.
        return Some(malformed(doubts.id.clone(), doubts.why));
    }
    match serde_json::from_value(value) {
        Ok(message) => Some(message),
        Err(_) => doubts.map(|doubts| malformed(doubts.id, doubts.why)),
    }
}

const NO_OBJECT: &str = "its `result` is not an object";

/// Why an answer, if it cannot be read, cannot be read. The SDK itself only says that it does not know the message.
struct Doubts {
    id: RequestId,
    why: &'static str,
}

impl Doubts {
    fn of(value: &Value) -> Option<Doubts> {
        let message = value.as_object()?;
        let (result, error) = (message.get("result"), message.get("error"));
        if message.contains_key("method") || (result.is_none() && error.is_none()) {
            return None;
        }
        let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
        let why = if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            r#"it lacks `"jsonrpc": "2.0"`"#
        } else if result.is_some() && error.is_some() {
            "it holds both `result` and `error`"
        } else if error.is_some() {
            "its `error` is no object with a number as `code` and a text as `message`"
        } else if result.is_some_and(|result| !result.is_object()) {
            NO_OBJECT
        } else {
            "its `result` cannot be read"
        };
        Some(Doubts { id, why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<RxJsonRpcMessage<RoleClient>> {
        match decode(text.as_bytes()) {
            Decoded::Messages(messages) => messages,
            Decoded::Noise(noise) => panic!("noise: {noise}"),
        }
    }

    fn error(text: &str) -> (ErrorData, Option<RequestId>) {
        match messages(text).remove(0) {
            JsonRpcMessage::Error(error) => (error.error, error.id),
            other => panic!("no error: {other:?}"),
        }
    }

    fn is_noise(text: &str) -> bool {
        matches!(decode(text.as_bytes()), Decoded::Noise(_))
    }

    #[test]
    fn messages_are_read() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"x":[1.5,"é"]}}"#;
        let read = messages(&format!("\u{feff} {text}\r\n"));
        assert_eq!(serde_json::to_value(&read[0]).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert!(messages(" \r\n").is_empty());
        let (refused, id) = error(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#);
        assert_eq!((refused.code.0, id), (-32700, None));
    }

    #[test]
    fn a_batch_is_its_messages() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"result":{}},7,{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}]"#;
        let read = messages(batch);
        assert!(matches!(&read[0], JsonRpcMessage::Response(response) if response.id == RequestId::Number(1)));
        assert!(matches!(read[1], JsonRpcMessage::Notification(_)));
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn what_is_no_message_is_noise() {
        for text in ["Server running", "{}", "[]", "[1,2]", "null", r#""text""#, r#"{"level":"info"}"#, "{\"id\":1"] {
            assert!(is_noise(text), "{text}");
        }
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_an_error_to_its_request() {
        let cases = [
            (r#"{"id":4,"result":{}}"#, "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":"m"}}"#, "both"),
            (r#"{"jsonrpc":"2.0","id":4,"error":"it broke"}"#, "`code`"),
            (r#"{"jsonrpc":"2.0","id":4,"error":{"code":"E1","message":"m"}}"#, "`code`"),
            (r#"{"jsonrpc":"2.0","id":4,"result":[]}"#, "not an object"),
            (r#"{"jsonrpc":"2.0","id":4,"result":[[{"type":"text","text":"x"}]]}"#, "not an object"),
            (r#"{"jsonrpc":"2.0","id":4,"result":7}"#, "not an object"),
            (r#"{"jsonrpc":"2.0","id":4,"result":{"x":NaN}}"#, "expected value"),
            (r#"{"jsonrpc":"2.0","id":4,"result":{}} trailing"#, "trailing"),
        ];
        for (text, expected) in cases {
            let (error, id) = error(text);
            assert_eq!((error.code.0, id), (MALFORMED, Some(RequestId::Number(4))), "{text}");
            assert!(error.message.contains(expected), "{text}: {}", error.message);
        }
        let deep = format!(r#"{{"jsonrpc":"2.0","result":{}1{},"id":4}}"#, "[".repeat(5000), "]".repeat(5000));
        let (deep, id) = error(&deep);
        assert_eq!((deep.code.0, id), (MALFORMED, Some(RequestId::Number(4))));
        assert!(deep.message.contains("recursion limit"), "{}", deep.message);
        assert!(is_noise(r#"{"id":4,"method":"ping"}"#), "a request of the server is never an answer");
    }

    #[test]
    fn s1_18_tools_of_older_servers_are_read_as_tools() {
        let text =
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","parameters":{"type":"object"}},{"name":"b"}]}}"#;
        let JsonRpcMessage::Response(response) = messages(text).remove(0) else { panic!("no answer") };
        let rmcp::model::ServerResult::ListToolsResult(list) = response.result else { panic!("no tools") };
        assert_eq!(list.tools.len(), 2);
    }
}
