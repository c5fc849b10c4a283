//! Tests against local servers. Two ports are two origins.

mod answers;
mod attacks;
mod credentials;
mod paging;
mod requests;
mod server;

use super::{Credentials, HttpProvider};
use crate::error::ProviderError;
use agent_spaces_policy::{DomainPattern, NetworkPolicy};
use agent_spaces_secrets::{Redactor, Secret};
use capability_gen::implementation::{HttpOperation, Implementation};
use capability_gen::sources::{Source, parse};
use serde_json::{Value, json};
use server::{Reply, Seen, Server};
use std::collections::BTreeMap;
use std::time::Duration;

const SECRET: &str = "open-sesame-of-the-cave";

/// Allows this machine under one name.
fn policy() -> NetworkPolicy {
    let here = || vec![DomainPattern::parse("localhost").unwrap()];
    NetworkPolicy {
        enabled: true,
        domains: here(),
        private: here(),
        timeout: Duration::from_secs(10),
        max_response_bytes: 64 << 10,
        ..NetworkPolicy::default()
    }
}

fn provider(policy: NetworkPolicy) -> HttpProvider {
    HttpProvider::new(policy, BTreeMap::new(), Duration::from_secs(10), &redactor())
}

/// Redactor that knows the secret.
fn redactor() -> Redactor {
    let redactor = Redactor::default();
    redactor.add(&Secret::new(SECRET));
    redactor
}

/// Provider with credentials for one server.
fn trusted(server: &Server) -> HttpProvider {
    let mut credentials = Credentials::default();
    credentials.add_header("Authorization", &format!("Bearer {SECRET}")).unwrap();
    credentials.add_query("api_key", SECRET);
    let origins = BTreeMap::from([(server.origin(), credentials)]);
    HttpProvider::new(policy(), origins, Duration::from_secs(10), &redactor())
}

/// Parses an operation from the `http` part of a definition.
fn operation(server: &Server, http: Value) -> HttpOperation {
    let any = json!({});
    let names = ["a", "b", "c", "d"];
    let properties: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), any.clone())).collect();
    let document = json!({
        "name": "tool",
        "http": { "baseUrl": server.url("/v1") },
        "functions": [{ "name": "f", "parameters": { "type": "object", "properties": properties, "required": names }, "http": http }],
    });
    let source = Source { file: "tool.json", text: &document.to_string(), name: None, format: None };
    let function = parse(&source).unwrap().remove(0).functions.remove(0);
    let Some(Implementation::Http(operation)) = function.implementation else { panic!("no request") };
    *operation
}

async fn call(server: &Server, http: Value, params: Value) -> Result<Value, ProviderError> {
    provider(policy()).call(&operation(server, http), &params, None).await
}

/// Returns the request that one call sends.
async fn asked(http: Value, params: Value) -> Seen {
    let server = Server::start(|_| Reply::json(json!(null))).await;
    call(&server, http, params).await.unwrap();
    server.seen().remove(0)
}
