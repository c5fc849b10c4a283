//! Failing calls: invalid parameters, errors, panics.

use super::{script, space};
use agent_spaces::{Capability, CapabilityError};
use agent_spaces_tests::{builder, value};
use anyhow::Context;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Its schema says less than it asks for.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "u32")]
#[schemars(with = "u32")]
struct Even(u32);

impl TryFrom<u32> for Even {
    type Error = String;

    fn try_from(number: u32) -> Result<Even, String> {
        if number.is_multiple_of(2) { Ok(Even(number)) } else { Err(format!("{number} is odd")) }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Halve {
    numbers: Vec<Even>,
}

#[derive(Deserialize, JsonSchema)]
struct How {
    how: String,
}

fn math() -> Capability {
    Capability::new("math")
        .function("halve", "Half of each", |params: Halve| async move {
            Ok::<_, CapabilityError>(params.numbers.iter().map(|even| even.0 / 2).collect::<Vec<_>>())
        })
        .function("fail", "Fails", |params: How| async move {
            Err::<u32, CapabilityError>(match params.how.as_str() {
                "own" => CapabilityError {
                    retryable: true,
                    details: Some(json!({ "left": 0 })),
                    ..CapabilityError::new("call.unavailable", "come back later")
                },
                "text" => "just so".into(),
                how => format!("{how} just so").into(),
            })
        })
        .function("fail_anyhow", "Fails as programs do", |params: How| async move {
            if params.how == "own" {
                return Err(anyhow::Error::from(CapabilityError::new("call.denied", "not you")).context("above"));
            }
            std::fs::read("/no/such/file/of/the/host").context("the book is not there")?;
            Ok(1)
        })
        .function("panic", "Panics", |params: How| {
            assert!(params.how != "at once", "the password is {}", "hunter22");
            async move {
                tokio::task::yield_now().await;
                assert!(params.how != "later", "the password is {}", "hunter22");
                Ok::<_, CapabilityError>("no panic")
            }
        })
}

async fn attempts(calls: &[&str]) -> Vec<Value> {
    let calls: String = calls.iter().map(|call| format!("await attempt(() => math.{call}),")).collect();
    let attempted = value(&space([math()]), &script("math", &format!("export default [{calls}]"))).await;
    attempted.as_array().unwrap().clone()
}

#[tokio::test]
async fn invalid_parameters_are_refused_with_their_path() {
    let attempts = attempts(&[
        "halve({ numbers: [2, 4] })",
        "halve({ numbers: [2, 5] })",
        "halve({ numbers: [2, 'x'] })",
        "halve({})",
        "halve({ numbers: [-2] })",
    ])
    .await;
    assert_eq!(attempts[0], json!({ "value": [1, 2] }));
    for (attempt, path) in attempts[1..].iter().zip(["numbers[1]", "numbers[1]", "numbers", "numbers[0]"]) {
        assert_eq!(attempt["code"], "call.invalid", "{attempt}");
        let issue = attempt["details"]["issues"][0]["path"].as_str();
        assert!(issue == Some(path) || attempt["message"].as_str().unwrap().contains(path), "{attempt}");
    }
    assert!(attempts[1]["message"].as_str().unwrap().contains("numbers[1]: 5 is odd"), "{}", attempts[1]);
}

#[tokio::test]
async fn errors_arrive_unchanged_without_host_details() {
    let attempts = attempts(&[
        "fail({ how: 'own' })",
        "fail({ how: 'text' })",
        "fail({ how: 'owned' })",
        "failAnyhow({ how: 'deep' })",
        "failAnyhow({ how: 'own' })",
    ])
    .await;
    let shown = |attempt: &Value| (attempt["code"].clone(), attempt["message"].clone(), attempt["retryable"].clone());
    assert_eq!(shown(&attempts[0]), (json!("call.unavailable"), json!("come back later"), json!(true)));
    assert_eq!(attempts[0]["details"]["left"], 0);
    assert_eq!(shown(&attempts[1]), (json!("call.failed"), json!("just so"), json!(false)));
    assert_eq!(attempts[2]["message"], "owned just so");
    assert_eq!(shown(&attempts[3]), (json!("call.failed"), json!("the book is not there"), json!(false)));
    assert!(!attempts[3].to_string().contains("/no/such"), "{}", attempts[3]);
    assert_eq!(shown(&attempts[4]), (json!("call.denied"), json!("not you"), json!(false)));
}

#[tokio::test]
async fn a_panic_fails_only_its_call() {
    let told = Arc::new(Mutex::new(Vec::<String>::new()));
    let operator = told.clone();
    let space = builder()
        .capability(math())
        .operator(move |text| operator.lock().unwrap().push(text.to_string()))
        .build()
        .unwrap();
    let body = "const how = (how) => attempt(() => math.panic({ how }));
        export default [await how('at once'), await how('later'), await how('not')]";
    let attempts = value(&space, &script("math", body)).await;
    for attempt in &attempts.as_array().unwrap()[..2] {
        assert_eq!(
            (&attempt["code"], &attempt["message"]),
            (&json!("call.failed"), &json!("math.panic: its handler panicked"))
        );
        assert!(!attempt.to_string().contains("hunter22"));
    }
    assert_eq!(attempts[2], json!({ "value": "no panic" }));
    assert_eq!(*told.lock().unwrap(), ["math.panic: its handler panicked: the password is hunter22"]);
}
