//! Bytes of a server, as messages. All transports read through here.

use super::excerpt::beginning;
use super::scan::AnswerScanner;
use super::{MALFORMED, TOO_LARGE, legacy};
use capability_gen::json_memory::{self, Allowance, Meter, RepeatedKeys};
use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcResponse, JsonRpcVersion2_0, RequestId, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;
use std::sync::LazyLock;
use tokio::sync::Semaphore;

/// What one message may take in memory as values. A message has up to 16 MiB of text unless its operator allows more:
/// text takes no more than that as values, lists of records about twenty times as much, a list of zeroes forty times.
pub const MAX_VALUE_BYTES: u64 = 256 << 20;

/// Messages of a batch, each of which is kept until it is taken. No server of before 2025-06-18 sends that many at once.
const MAX_BATCH: usize = 1_000;

/// Messages up to this size are read where they arrive; larger ones on a thread that may block, so that they hold up
/// nobody else.
const MAX_INLINE_BYTES: usize = 64 << 10;

/// Large messages that are read at one time: all cores but one, which serves.
static READING: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(cores.saturating_sub(1).max(1))
});

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
                unread(&format!("it is one of more than {MAX_BATCH} messages that came at once"))
            }
            Ok(Value::Array(batch)) => batch.into_iter().filter_map(|value| message(value, is_large)).collect(),
            Ok(value) => message(value, is_large).into_iter().collect(),
            Err(json_memory::ReadError::Json(error)) => unread(&error.to_string()),
            Err(json_memory::ReadError::Memory(_)) => unread(&too_many_values()),
        };
    if messages.is_empty() { Decoded::Noise(beginning(bytes)) } else { Decoded::Messages(messages) }
}

/// As [`decode`], away from the threads that serve where there is much to read.
pub async fn decode_apart<B: AsRef<[u8]> + Send + 'static>(bytes: B) -> Decoded {
    if bytes.as_ref().len() <= MAX_INLINE_BYTES {
        return decode(bytes.as_ref());
    }
    // Nobody closes it.
    let place = READING.acquire().await;
    let read = tokio::task::spawn_blocking(move || {
        let _place = place;
        decode(bytes.as_ref())
    });
    read.await.unwrap_or_else(|_| Decoded::Noise(String::new()))
}

/// Why values are not read.
pub(crate) fn too_many_values() -> String {
    format!("its values take more than {MAX_VALUE_BYTES} bytes of memory")
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

fn message(mut value: Value, is_large: bool) -> Option<RxJsonRpcMessage<RoleClient>> {
    legacy::normalise(&mut value);
    if is_large && let Some(answer) = large_answer(&mut value) {
        return Some(answer);
    }
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

/// A large answer with content, as it is. The SDK would guess what kind of result it is, each time with a copy of all that
/// is in it; whoever asked knows.
fn large_answer(value: &mut Value) -> Option<RxJsonRpcMessage<RoleClient>> {
    let message = value.as_object_mut()?;
    let is_answer = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && !["method", "error"].iter().any(|key| message.contains_key(*key));
    let result = message.get("result").and_then(Value::as_object)?;
    let has = |keys: &[&str]| keys.iter().any(|key| result.contains_key(*key));
    // What asks for something has to be understood.
    if !is_answer || !has(&["content", "structuredContent", "contents", "messages"]) || has(ASKING) {
        return None;
    }
    let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
    let result = ServerResult::CustomResult(CustomResult::new(message.get_mut("result").map(Value::take)?));
    Some(JsonRpcMessage::Response(JsonRpcResponse { jsonrpc: JsonRpcVersion2_0, id, result }))
}

/// Members of results that are no last word.
const ASKING: &[&str] = &["inputRequests", "requestState", "task"];

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
    fn a_large_answer_is_passed_on_as_it_is() {
        let text = "x".repeat(MAX_INLINE_BYTES);
        let message = |result: Value| serde_json::json!({ "jsonrpc": "2.0", "id": 3, "result": result });
        let content = serde_json::json!({ "content": [{ "type": "text", "text": text, "own": 1 }], "isError": true });
        let JsonRpcMessage::Response(read) = messages(&message(content.clone()).to_string()).remove(0) else {
            panic!("no answer")
        };
        assert_eq!(read.id, RequestId::Number(3));
        assert!(matches!(&read.result, ServerResult::CustomResult(CustomResult(value)) if *value == content));
        // What is no answer with content is understood as ever.
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
    fn an_answer_whose_values_take_too_much_memory_is_an_error_to_its_request() {
        let zeroes = "0,".repeat(usize::try_from(MAX_VALUE_BYTES / json_memory::ITEM_BYTES).unwrap());
        let (refused, id) = error(&format!(r#"{{"jsonrpc":"2.0","result":{{"content":[{zeroes}0]}},"id":4}}"#));
        assert_eq!((refused.code.0, id), (MALFORMED, Some(RequestId::Number(4))));
        assert!(refused.message.contains("bytes of memory"), "{}", refused.message);
    }

    #[test]
    fn a_batch_of_too_many_messages_is_not_kept() {
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        let batch = |count: usize| format!("[{}{notification}]", format!("{notification},").repeat(count - 1));
        assert_eq!(messages(&batch(MAX_BATCH)).len(), MAX_BATCH);
        assert!(is_noise(&batch(MAX_BATCH + 1)));
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
