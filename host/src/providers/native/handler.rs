//! From JSON to types and back.

use crate::handlers::{Answer, Call, CapabilityError, Handler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::mem;
use std::sync::Arc;

/// A handler over types as one over JSON.
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

/// Parameters that passed their schema. A type may still ask for more than its schema says.
fn read<P: DeserializeOwned>(params: Value, function: &str) -> Result<P, CapabilityError> {
    let error = match serde_path_to_error::deserialize(&params) {
        Ok(params) => return Ok(params),
        Err(error) => error,
    };
    // A function without parameters is called with an empty object, which `()` is not read from.
    if params.as_object().is_some_and(serde_json::Map::is_empty)
        && let Ok(nothing) = serde_json::from_value(Value::Null)
    {
        return Ok(nothing);
    }
    let path = error.path().to_string();
    let path = if path == "." { String::new() } else { path };
    let why = error.into_inner().to_string();
    let shown = if path.is_empty() { why.clone() } else { format!("{path}: {why}") };
    let mut refused = CapabilityError::new("call.invalid", format!("{function}: {shown}"));
    refused.details = Some(json!({ "issues": [{ "path": path, "message": why }], "hint": "invalid_arguments" }));
    Err(refused)
}

fn write<R: Serialize>(result: R) -> Answer {
    serde_json::to_value(result).map_err(|error| CapabilityError::failed(format!("its answer is no JSON: {error}")))
}
