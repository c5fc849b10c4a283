//! Shared test fixtures.

use crate::request::{Question, Request};
use agent_spaces_types::identity::FunctionId;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Long enough for every test.
pub(crate) const LONG: Duration = Duration::from_secs(600);

pub(crate) fn question(function: &str, params: Value) -> Question {
    Question {
        run_id: "run_1".into(),
        call_id: 4,
        space: Some("support".into()),
        function_id: id(function),
        module: "@capabilities/crm".into(),
        source: "MCP server crm (npx crm-server)".into(),
        capability: "crm".into(),
        function: function.into(),
        params,
        shown: None,
        message: "Create a ticket for Ada".into(),
        places: vec!["agent.ts:5".into()],
    }
}

/// The function of that name in the module.
pub(crate) fn id(function: &str) -> FunctionId {
    let in_wit = function.chars().flat_map(|letter| {
        let dash = letter.is_ascii_uppercase().then_some('-');
        dash.into_iter().chain([letter.to_ascii_lowercase()])
    });
    FunctionId::new("capabilities:crm/crm@1.0.0", in_wit.collect::<String>())
}

/// A request for a function, with a parameter that distinguishes it from others.
pub(crate) fn request_of(function: &str, number: u64, lifetime: Duration) -> Arc<Request> {
    Arc::new(Request::new(question(function, json!({ "number": number })), lifetime))
}

pub(crate) fn request() -> Arc<Request> {
    request_of("createTicket", 1, LONG)
}

/// Waits until a condition holds; fails if it never does.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}
