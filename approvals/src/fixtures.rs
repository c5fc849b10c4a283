//! What tests of several files use.

use crate::request::{Question, Request};
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
        capability: "crm".into(),
        function: function.into(),
        params,
        message: "Create a ticket for Ada".into(),
        places: vec!["agent.ts:5".into()],
    }
}

/// A request for a function, with a parameter that tells it from others.
pub(crate) fn request_of(function: &str, number: u64, lifetime: Duration) -> Arc<Request> {
    Arc::new(Request::new(question(function, json!({ "number": number })), lifetime))
}

pub(crate) fn request() -> Arc<Request> {
    request_of("createTicket", 1, LONG)
}

/// Waits until something is so; fails if it never is.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}
