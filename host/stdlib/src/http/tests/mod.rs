//! Tests against local servers, to which test names resolve.

mod addresses;
mod answers;
mod guarded_client;
mod limits;
mod names;
mod redirects;
mod requests;
mod rules;
mod server;
mod tls;

use super::Client;
use crate::error::{Answer, StdError};
use agent_spaces_policy::{DomainPattern, NetworkPolicy};
use names::Names;
use serde_json::{Value, json};
use server::{Reply, Server};
use std::sync::Arc;
use std::time::Duration;

const LOCAL: &str = "127.0.0.1";

fn patterns(texts: &[&str]) -> Vec<DomainPattern> {
    texts.iter().map(|text| DomainPattern::parse(text).unwrap()).collect()
}

/// Allows all names, and private addresses for those below `test`.
fn policy() -> NetworkPolicy {
    NetworkPolicy {
        enabled: true,
        domains: patterns(&["*"]),
        private: patterns(&["*.test"]),
        timeout: Duration::from_secs(20),
        ..NetworkPolicy::default()
    }
}

/// Client that resolves every name to this machine.
fn client(policy: NetworkPolicy) -> Client {
    Client::with_names(policy, Arc::new(Names::always(&[LOCAL])))
}

async fn get(client: &Client, url: String) -> Answer {
    client.call("get", json!({ "url": url })).await
}

/// Result of a `GET` with these options from a server with this reply.
async fn answer(reply: Reply, options: Value) -> Answer {
    let server = Server::start(move |_| reply.clone()).await;
    client(policy()).call("get", json!({ "url": server.url("a.test", "/"), "options": options })).await
}

fn assert_error(error: &StdError, code: &str, message: &str) {
    assert_eq!((error.code.as_str(), error.message.as_str()), (code, message));
}
