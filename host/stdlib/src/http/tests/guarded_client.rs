//! Requests of the host to URLs that callers chose.

use super::super::GuardedClient;
use super::names::Names;
use super::server::{Reply, Server};
use super::{LOCAL, assert_error};
use bytes::Bytes;
use reqwest::header::HeaderMap;
use std::sync::Arc;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(20);

fn client(reaches_private: bool, addresses: &[&str]) -> GuardedClient {
    GuardedClient::with_names(reaches_private, Arc::new(Names::always(addresses)))
}

async fn post(client: &GuardedClient, url: &str) -> Result<u16, String> {
    let posted = client.post(url, HeaderMap::new(), Bytes::from_static(b"{}"), TIMEOUT).await;
    posted.map_err(|error| error.message)
}

#[test]
fn only_public_https_urls_are_accepted_by_default() {
    let client = GuardedClient::new(false);
    assert!(client.check("https://hooks.example.com:8443/a?b=c").is_ok() && client.check("https://1.1.1.1/").is_ok());
    for url in [
        "http://hooks.example.com/",
        "ftp://hooks.example.com/",
        "https://user@hooks.example.com/",
        "https://:pass@hooks.example.com/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://10.1.2.3/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://169.254.169.254/",
        "https://localhost/",
        "https://a.localhost./",
        "hooks.example.com",
    ] {
        assert!(client.check(url).is_err(), "{url}");
    }
}

#[test]
fn private_addresses_and_plain_http_can_be_allowed_and_metadata_services_cannot() {
    let client = GuardedClient::new(true);
    for url in ["http://127.0.0.1:9000/", "https://10.1.2.3/", "http://localhost/", "http://intranet/"] {
        assert!(client.check(url).is_ok(), "{url}");
    }
    for url in ["http://169.254.169.254/", "http://0.0.0.0/", "https://user@intranet/"] {
        assert!(client.check(url).is_err(), "{url}");
    }
}

#[tokio::test]
async fn a_name_with_a_private_address_is_refused_when_a_request_is_sent() {
    let server = Server::start(|_| Reply::ok()).await;
    let url = format!("https://hooks.example.com:{}/", server.port());
    let refused = "\"hooks.example.com\" resolves to a private address";
    assert_eq!(post(&client(false, &[LOCAL]), &url).await, Err(refused.to_owned()));
    // One private address among public ones is enough.
    assert_eq!(post(&client(false, &["1.1.1.1", "10.0.0.1"]), &url).await, Err(refused.to_owned()));
    assert_eq!(post(&client(true, &["169.254.169.254"]), &url).await, Err(refused.to_owned()));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn redirects_are_not_followed_and_bodies_not_read_to_the_end() {
    let elsewhere = Server::start(|_| Reply::ok()).await;
    let location = elsewhere.url("b.test", "/");
    let server = Server::start(move |request| match request.starts_with("POST /far ") {
        true => Reply::redirect(307, &location),
        false => Reply::endless("HTTP/1.1 200 OK\r\n\r\n", vec![b'a'; 8 << 10], Duration::ZERO),
    })
    .await;
    let client = client(true, &[LOCAL]);
    assert_eq!(post(&client, &server.url("a.test", "/far")).await, Ok(307));
    assert_eq!(post(&client, &server.url("a.test", "/endless")).await, Ok(200));
    assert!(elsewhere.requests().is_empty());
    assert!(server.requests().iter().all(|request| request.ends_with("\r\n\r\n{}")));
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let server = Server::start(|_| Reply::hanging("")).await;
    let client = client(true, &[LOCAL]);
    let url = server.url("a.test", "/");
    let error = client.post(&url, HeaderMap::new(), Bytes::new(), Duration::from_millis(50)).await.unwrap_err();
    assert_error(&error, "call.timeout", "Timed out: no complete answer within 50 ms");
}
