//! JSON-RPC binding.

use super::bounds::MAX_ID;
use super::error::{A2aError, ErrorKind};
use crate::bounds::MAX_VALUES;
use agent_spaces_types::json_memory;
use serde_json::{Map, Value, json};

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    /// Text or number.
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Option<Value>,
}

/// Reads a request.
///
/// # Errors
/// With the id of the request, null where it has none.
pub(super) fn read(body: &[u8]) -> Result<Request, (Value, A2aError)> {
    if json_memory::has_more_values(body, MAX_VALUES) {
        let message = format!("The body has more than {MAX_VALUES} JSON values");
        return Err((Value::Null, A2aError::new(ErrorKind::TooLarge, message)));
    }
    let fault = |_| (Value::Null, A2aError::new(ErrorKind::Parse, "Invalid JSON payload"));
    let value: Value = serde_json::from_slice(body).map_err(fault)?;
    let invalid = |id: &Value, message: &str| (id.clone(), A2aError::new(ErrorKind::Request, message));
    let Value::Object(mut request) = value else {
        return Err(invalid(&Value::Null, "The body is not an object: send one request at a time"));
    };
    let id = match request.remove("id") {
        Some(id) if is_id(&id) => id,
        _ => return Err(invalid(&Value::Null, "The request has no `id` that is a text or a number")),
    };
    if request.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(invalid(&id, "The request has no member `jsonrpc` with the value \"2.0\""));
    }
    let Some(Value::String(method)) = request.remove("method") else {
        return Err(invalid(&id, "The request has no `method`"));
    };
    match request.remove("params") {
        params @ (None | Some(Value::Object(_))) => Ok(Request { id, method, params }),
        Some(Value::Null) => Ok(Request { id, method, params: None }),
        Some(_) => Err((id, A2aError::params("params", "The parameters are not an object"))),
    }
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::String(text) => text.len() <= MAX_ID,
        other => other.is_number(),
    }
}

/// Returns the body of a response.
pub(super) fn response(id: &Value, result: Result<Value, &A2aError>) -> Value {
    let mut response = Map::new();
    response.insert("jsonrpc".to_owned(), json!("2.0"));
    response.insert("id".to_owned(), id.clone());
    match result {
        Ok(value) => response.insert("result".to_owned(), value),
        Err(error) => response.insert("error".to_owned(), error.json_rpc()),
    };
    Value::Object(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(body: &Value) -> (Value, ErrorKind) {
        let (id, error) = read(body.to_string().as_bytes()).unwrap_err();
        (id, error.kind)
    }

    #[test]
    fn a_request_is_read_with_its_id() {
        let request = read(br#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t"}}"#).unwrap();
        assert_eq!(
            (request.id, request.method.as_str(), request.params),
            (json!("a"), "GetTask", Some(json!({ "id": "t" })))
        );
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#).unwrap().params, None);
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_code_of_json_rpc() {
        assert_eq!(read(b"{").unwrap_err().1.kind, ErrorKind::Parse);
        assert_eq!(fault(&json!([])), (Value::Null, ErrorKind::Request));
        assert_eq!(fault(&json!({ "id": {}, "jsonrpc": "2.0", "method": "x" })), (Value::Null, ErrorKind::Request));
        assert_eq!(fault(&json!({ "jsonrpc": "2.0", "method": "x" })), (Value::Null, ErrorKind::Request));
        assert_eq!(fault(&json!({ "id": 1, "method": "x" })), (json!(1), ErrorKind::Request));
        assert_eq!(fault(&json!({ "id": 1, "jsonrpc": "2.0" })), (json!(1), ErrorKind::Request));
        assert_eq!(
            fault(&json!({ "id": 1, "jsonrpc": "2.0", "method": "x", "params": [] })),
            (json!(1), ErrorKind::Params)
        );
    }

    #[test]
    fn a_response_has_a_result_or_an_error() {
        assert_eq!(response(&json!(1), Ok(json!({}))), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let error = response(&json!(1), Err(&A2aError::not_found("t")));
        assert_eq!((error["error"]["code"].as_i64(), error.get("result")), (Some(-32001), None));
    }
}
