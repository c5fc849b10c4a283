//! Requests to servers on this machine, which names of tests are said to be.

mod addresses;
mod answers;
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

/// All names may be reached, those below `test` on this machine too.
fn policy() -> NetworkPolicy {
    NetworkPolicy {
        enabled: true,
        domains: patterns(&["*"]),
        private: patterns(&["*.test"]),
        timeout: Duration::from_secs(20),
        ..NetworkPolicy::default()
    }
}

/// A client for which every name is this machine.
fn client(policy: NetworkPolicy) -> Client {
    Client::with_names(policy, Arc::new(Names::always(&[LOCAL])))
}

async fn get(client: &Client, url: String) -> Answer {
    client.call("get", json!({ "url": url })).await
}

/// What a `GET` with these options gives, from a server that answers so.
async fn answer(reply: Reply, options: Value) -> Answer {
    let server = Server::start(move |_| reply.clone()).await;
    client(policy()).call("get", json!({ "url": server.url("a.test", "/"), "options": options })).await
}

fn assert_error(error: &StdError, code: &str, message: &str) {
    assert_eq!((error.code, error.message.as_str()), (code, message));
}
