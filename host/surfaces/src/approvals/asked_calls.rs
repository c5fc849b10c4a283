//! Calls of a request for approval, as they are shown.

use crate::bounds::MAX_SHOWN_CALL;
use serde_json::Value;

/// Calls of one function that are decided together.
#[derive(Debug, PartialEq)]
pub(super) struct AskedCalls {
    pub(super) function: String,
    pub(super) function_id: String,
    pub(super) module: String,
    /// Arguments of each call; `None` if they are too long to be shown.
    pub(super) params: Vec<Option<Value>>,
}

impl AskedCalls {
    /// Reads one call, or a list of calls.
    pub(super) fn of(call: Value) -> AskedCalls {
        let is_long = call.to_string().len() > MAX_SHOWN_CALL;
        let calls = match call {
            Value::Array(calls) => calls,
            one => vec![one],
        };
        let text = |key: &str| {
            let text = calls.first().and_then(|call| call.get(key)).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let (function, function_id, module) = (text("function"), text("functionId"), text("module"));
        let params = |mut call: Value| call.get_mut("params").map(Value::take).filter(|_| !is_long);
        AskedCalls { function, function_id, module, params: calls.into_iter().map(params).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::AskedCalls;
    use crate::bounds::MAX_SHOWN_CALL;
    use serde_json::{Value, json};

    fn call(params: Option<Value>) -> Value {
        let mut call = json!({ "function": "bank.pay", "functionId": "capabilities:bank/bank#pay", "module": "m" });
        params.into_iter().for_each(|params| call["params"] = params);
        call
    }

    #[test]
    fn one_call_and_several_have_the_arguments_of_each() {
        let one = AskedCalls::of(call(Some(json!({ "amount": 1 }))));
        assert_eq!((one.function.as_str(), one.module.as_str()), ("bank.pay", "m"));
        assert_eq!(one.function_id, "capabilities:bank/bank#pay");
        assert_eq!(one.params, [Some(json!({ "amount": 1 }))]);
        let several = AskedCalls::of(json!([call(Some(json!(1))), call(None), call(Some(Value::Null))]));
        assert_eq!(several.params, [Some(json!(1)), None, Some(Value::Null)]);
        assert_eq!(several.function, "bank.pay");
    }

    #[test]
    fn long_arguments_are_left_out_and_anything_is_read() {
        let long = AskedCalls::of(call(Some("x".repeat(MAX_SHOWN_CALL).into())));
        assert_eq!((long.function.as_str(), long.params), ("bank.pay", vec![None]));
        for odd in [Value::Null, json!("text"), json!([]), json!([[]]), json!({ "function": 1 })] {
            assert_eq!(AskedCalls::of(odd.clone()).function, "", "{odd}");
        }
    }
}
