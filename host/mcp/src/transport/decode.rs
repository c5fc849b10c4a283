//! Decoding of bytes from a server to JSON-RPC messages, for all transports.

use super::answer_scanner::AnswerScanner;
use super::excerpt::beginning;
use super::{MALFORMED, TOO_LARGE, legacy};
use agent_spaces_types::json_memory::{self, Allowance, Meter, RepeatedKeys};
use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcResponse, JsonRpcVersion2_0, RequestId, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;
use std::sync::LazyLock;
use tokio::sync::Semaphore;

/// Memory limit of one parsed message. A message has up to 16 MiB of JSON unless the operator allows more. Parsed, a
/// string takes no more than that, a list of records about twenty times as much, a list of zeroes forty times.
pub const MAX_VALUE_BYTES: u64 = 256 << 20;

/// Limit on messages of a batch, which are all queued. No server from before 2025-06-18 sends that many at once.
const MAX_BATCH: usize = 1_000;

/// Messages up to this size are decoded on the async thread; larger ones with `spawn_blocking`.
const MAX_INLINE_BYTES: usize = 64 << 10;

/// Limit on large messages decoded at the same time: one less than the number of cores.
static READING: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(cores.saturating_sub(1).max(1))
});

/// Outcome of decoding.
#[derive(Debug)]
pub enum Decoded {
    /// One message, or those of a batch; none if there was only whitespace.
    /// A response that cannot be decoded becomes an error response with the code [`MALFORMED`] to the same request.
    Messages(Vec<RxJsonRpcMessage<RoleClient>>),
    /// Not a JSON-RPC message. The text is its beginning; the caller must redact and shorten it before showing it.
    Noise(String),
}

/// Decodes bytes from a server. The caller limits their size.
pub fn decode(bytes: &[u8]) -> Decoded {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Decoded::Messages(Vec::new());
    }
    let is_large = bytes.len() > MAX_INLINE_BYTES;
    let mut allowance = Allowance(MAX_VALUE_BYTES);
    let unread = |why: &str| {
        let mut scanner = AnswerScanner::default();
        scanner.feed(bytes);
        scanner.answers().into_iter().map(|id| malformed(id, why)).collect()
    };
    let messages: Vec<_> =
        match json_memory::from_slice(bytes, RepeatedKeys::LastCounts, &mut Meter::new(&mut allowance)) {
            Ok(Value::Array(batch)) if batch.len() > MAX_BATCH => {
                unread(&format!("it is part of a batch of more than {MAX_BATCH} messages"))
            }
            Ok(Value::Array(batch)) => batch.into_iter().filter_map(|value| message(value, is_large)).collect(),
            Ok(value) => message(value, is_large).into_iter().collect(),
            Err(json_memory::ReadError::Json(error)) => unread(&error.to_string()),
            Err(json_memory::ReadError::Memory(_)) => unread(&too_many_values()),
        };
    if messages.is_empty() { Decoded::Noise(beginning(bytes)) } else { Decoded::Messages(messages) }
}

/// Like [`decode`], but decodes a large message with `spawn_blocking`.
pub async fn decode_apart<B: AsRef<[u8]> + Send + 'static>(bytes: B) -> Decoded {
    if bytes.as_ref().len() <= MAX_INLINE_BYTES {
        return decode(bytes.as_ref());
    }
    // The semaphore is never closed.
    let permit = READING.acquire().await;
    let read = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        decode(bytes.as_ref())
    });
    read.await.unwrap_or_else(|_| Decoded::Noise(String::new()))
}

/// Returns the error text for a message over the memory limit.
pub(crate) fn too_many_values() -> String {
    format!("its values take more than {MAX_VALUE_BYTES} bytes of memory")
}

/// Returns the error response that replaces a response over the size limit.
pub fn too_large(id: RequestId, limit: usize) -> RxJsonRpcMessage<RoleClient> {
    let text = format!("the server's answer is larger than {limit} bytes");
    JsonRpcMessage::error(ErrorData::new(ErrorCode(TOO_LARGE), text, None), Some(id))
}

/// Returns the error response that replaces a malformed response.
pub fn malformed(id: RequestId, why: &str) -> RxJsonRpcMessage<RoleClient> {
    JsonRpcMessage::error(ErrorData::new(ErrorCode(MALFORMED), why.to_owned(), None), Some(id))
}

fn message(mut value: Value, is_large: bool) -> Option<RxJsonRpcMessage<RoleClient>> {
    legacy::normalise(&mut value);
    if is_large && let Some(answer) = large_answer(&mut value) {
        return Some(answer);
    }
    // Deserializing consumes the value, which may be large: find the likely fault before.
    let fault = Fault::of(&value);
    if let Some(fault) = fault.as_ref().filter(|fault| fault.why == NO_OBJECT) {
        // The SDK would deserialize a list as the members of an object, in order.
        return Some(malformed(fault.id.clone(), fault.why));
    }
    match serde_json::from_value(value) {
        Ok(message) => Some(message),
        Err(_) => fault.map(|fault| malformed(fault.id, fault.why)),
    }
}

/// Returns a large response with content as an untyped result. The SDK would try one result type after another, each with
/// a copy of the whole content; the caller knows the type.
fn large_answer(value: &mut Value) -> Option<RxJsonRpcMessage<RoleClient>> {
    let message = value.as_object_mut()?;
    let is_answer = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && !["method", "error"].iter().any(|key| message.contains_key(*key));
    let result = message.get("result").and_then(Value::as_object)?;
    let has = |keys: &[&str]| keys.iter().any(|key| result.contains_key(*key));
    // Requests for input must be typed.
    if !is_answer || !has(&["content", "structuredContent", "contents", "messages"]) || has(ASKING) {
        return None;
    }
    let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
    let result = ServerResult::CustomResult(CustomResult::new(message.get_mut("result").map(Value::take)?));
    Some(JsonRpcMessage::Response(JsonRpcResponse { jsonrpc: JsonRpcVersion2_0, id, result }))
}

/// Members of results that are not final.
const ASKING: &[&str] = &["inputRequests", "requestState", "task"];

const NO_OBJECT: &str = "its `result` is not an object";

/// Likely fault of a response, in case it cannot be deserialized. The SDK itself only reports an unknown message.
struct Fault {
    id: RequestId,
    why: &'static str,
}

impl Fault {
    fn of(value: &Value) -> Option<Fault> {
        let message = value.as_object()?;
        let (result, error) = (message.get("result"), message.get("error"));
        if message.contains_key("method") || (result.is_none() && error.is_none()) {
            return None;
        }
        let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
        let why = if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            r#"it lacks `"jsonrpc": "2.0"`"#
        } else if result.is_some() && error.is_some() {
            "it has both `result` and `error`"
        } else if error.is_some() {
            "its `error` is not an object with a number `code` and a string `message`"
        } else if result.is_some_and(|result| !result.is_object()) {
            NO_OBJECT
        } else {
            "its `result` is invalid"
        };
        Some(Fault { id, why })
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
    fn other_text_is_noise() {
        for text in ["Server running", "{}", "[]", "[1,2]", "null", r#""text""#, r#"{"level":"info"}"#, "{\"id\":1"] {
            assert!(is_noise(text), "{text}");
        }
    }

    #[test]
    fn a_malformed_response_is_an_error_to_its_request() {
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
        assert!(is_noise(r#"{"id":4,"method":"ping"}"#), "a request of the server is never a response");
    }

    #[test]
    fn a_large_response_stays_untyped() {
        let text = "x".repeat(MAX_INLINE_BYTES);
        let message = |result: Value| serde_json::json!({ "jsonrpc": "2.0", "id": 3, "result": result });
        let content = serde_json::json!({ "content": [{ "type": "text", "text": text, "own": 1 }], "isError": true });
        let JsonRpcMessage::Response(read) = messages(&message(content.clone()).to_string()).remove(0) else {
            panic!("no answer")
        };
        assert_eq!(read.id, RequestId::Number(3));
        assert!(matches!(&read.result, ServerResult::CustomResult(CustomResult(value)) if *value == content));
        // Other large messages are typed as usual.
        let asking = message(serde_json::json!({ "content": [], "requestState": text, "inputRequests": {} }));
        let tools = message(serde_json::json!({ "tools": [{ "name": "a", "description": text, "inputSchema": {} }] }));
        for other in [asking, tools] {
            let JsonRpcMessage::Response(read) = messages(&other.to_string()).remove(0) else { panic!("no answer") };
            assert!(!matches!(read.result, ServerResult::CustomResult(_)));
        }
        let (both, _) = error(&format!(r#"{{"jsonrpc":"2.0","id":4,"result":{{"content":"{text}"}},"error":{{}}}}"#));
        assert!(both.message.contains("both"), "{both:?}");
    }

    #[test]
    fn a_response_over_the_memory_limit_is_an_error_to_its_request() {
        let zeroes = "0,".repeat(usize::try_from(MAX_VALUE_BYTES / json_memory::ITEM_BYTES).unwrap());
        let (refused, id) = error(&format!(r#"{{"jsonrpc":"2.0","result":{{"content":[{zeroes}0]}},"id":4}}"#));
        assert_eq!((refused.code.0, id), (MALFORMED, Some(RequestId::Number(4))));
        assert!(refused.message.contains("bytes of memory"), "{}", refused.message);
    }

    #[test]
    fn a_batch_over_the_limit_is_refused() {
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        let batch = |count: usize| format!("[{}{notification}]", format!("{notification},").repeat(count - 1));
        assert_eq!(messages(&batch(MAX_BATCH)).len(), MAX_BATCH);
        assert!(is_noise(&batch(MAX_BATCH + 1)));
    }

    #[test]
    fn tools_with_parameters_instead_of_input_schema_are_read() {
        let text =
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","parameters":{"type":"object"}},{"name":"b"}]}}"#;
        let JsonRpcMessage::Response(response) = messages(text).remove(0) else { panic!("no answer") };
        let rmcp::model::ServerResult::ListToolsResult(list) = response.result else { panic!("no tools") };
        assert_eq!(list.tools.len(), 2);
    }
}
