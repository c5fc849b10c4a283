//! Conversion between JSON and the types of a handler.

use agent_spaces_calls::call::Call;
use agent_spaces_calls::handlers::Handler;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::mem;
use std::sync::Arc;

/// Wraps a typed handler as one over JSON.
pub(super) fn typed<P, R, E, F, Answered>(handler: F) -> Arc<Handler>
where
    P: DeserializeOwned + Send + 'static,
    R: Serialize + 'static,
    E: Into<CapabilityError> + 'static,
    F: Fn(P, Call) -> Answered + Send + Sync + 'static,
    Answered: Future<Output = Result<R, E>> + Send + 'static,
{
    let handler = Arc::new(handler);
    Arc::new(move |mut call: Call| {
        let handler = handler.clone();
        Box::pin(async move {
            let params = read(mem::take(&mut call.params), &call.function)?;
            let answered = handler(params, call).await;
            write(answered.map_err(Into::into)?)
        })
    })
}

/// Deserialises validated parameters. A type may be stricter than its schema.
fn read<P: DeserializeOwned>(params: Value, function: &str) -> Result<P, CapabilityError> {
    let error = match serde_path_to_error::deserialize(&params) {
        Ok(params) => return Ok(params),
        Err(error) => error,
    };
    // A function without parameters is called with an empty object, from which `()` does not deserialise.
    if params.as_object().is_some_and(serde_json::Map::is_empty)
        && let Ok(nothing) = serde_json::from_value(Value::Null)
    {
        return Ok(nothing);
    }
    let path = error.path().to_string();
    let path = if path == "." { String::new() } else { path };
    let why = error.into_inner().to_string();
    let shown = if path.is_empty() { why.clone() } else { format!("{path}: {why}") };
    let mut refused = CapabilityError::new(Code::CallInvalid, format!("{function}: {shown}"));
    refused.details = Some(json!({ "issues": [{ "path": path, "message": why }], "hint": "invalid_arguments" }));
    Err(refused)
}

fn write<R: Serialize>(result: R) -> Answer {
    serde_json::to_value(result).map_err(|error| CapabilityError::failed(format!("its answer is not JSON: {error}")))
}
