//! Recorded calls of a run, and their comparison.

use crate::recorded_event::is_same;
use agent_spaces_sandbox::program::Program;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Longest text of arguments in a message, in characters.
const MAX_SHOWN: usize = 300;

/// Call of a script.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedCall {
    /// Its number in the run, from one.
    pub call: u64,
    /// The function as scripts write it: `crm.createTicket`.
    pub function: String,
    /// Id of the function: `capabilities:crm/crm@1.0.0#create-ticket`.
    pub function_id: String,
    /// Arguments, with secrets redacted.
    pub params: Value,
}

/// First call that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The recorded call; `None` if the run has no more.
    pub expected: Option<RecordedCall>,
    /// The call of the changed script; `None` if it ended or waits.
    pub seen: Option<RecordedCall>,
    /// Places in the changed script that call the function: `agent.ts:5`.
    pub places: Vec<String>,
}

impl RecordedCall {
    /// Reads a `callScheduled` event; `None` for others.
    pub fn of_event(event: &Value) -> Option<RecordedCall> {
        if event["type"] != "callScheduled" {
            return None;
        }
        let text = |key: &str| event[key].as_str();
        Some(RecordedCall {
            call: event["callId"].as_u64()?,
            function: format!("{}.{}", text("capability")?, text("function")?),
            function_id: text("functionId")?.to_owned(),
            params: event["params"].clone(),
        })
    }

    /// Returns the places in a program that call its function: `agent.ts:5`.
    pub fn places(&self, program: &Program) -> Vec<String> {
        let sites = program.call_sites().filter(|site| site.path == self.function);
        sites.map(|site| format!("{}:{}", site.location.file, site.location.line)).collect()
    }

    /// Returns true if the other call has the same function and arguments.
    pub fn is_same(&self, other: &RecordedCall) -> bool {
        self.function_id == other.function_id && is_same(&self.params, &other.params)
    }
}

impl fmt::Display for RecordedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.params.to_string();
        let shown: String = params.chars().take(MAX_SHOWN).collect();
        let more = if shown.len() < params.len() { "…" } else { "" };
        write!(formatter, "call {}: {}({shown}{more})", self.call, self.function)
    }
}

#[cfg(test)]
mod tests {
    use crate::recorded_call::RecordedCall;
    use serde_json::json;

    #[test]
    fn a_scheduled_call_is_read_and_compared_by_function_and_arguments() {
        let event = |call: u64, item: u64| {
            json!({
                "type": "callScheduled", "callId": call, "interface": "a:shop/shop@1.0.0",
                "functionId": "a:shop/shop@1.0.0#pay", "capability": "shop", "function": "pay", "params": { "item": item }
            })
        };
        let one = RecordedCall::of_event(&event(1, 7)).unwrap();
        assert_eq!(one.to_string(), "call 1: shop.pay({\"item\":7})");
        assert!(one.is_same(&RecordedCall::of_event(&event(2, 7)).unwrap()));
        assert!(!one.is_same(&RecordedCall::of_event(&event(1, 8)).unwrap()));
        assert_eq!(RecordedCall::of_event(&json!({ "type": "console" })), None);
    }
}
