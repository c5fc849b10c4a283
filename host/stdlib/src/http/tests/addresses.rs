//! SSRF tests: only public addresses are reachable, unless the policy allows more.

use super::*;
use crate::http::resolver::{Guarded, PrivateAddress};
use reqwest::dns::Resolve;

async fn resolve(guarded: &Guarded, name: &str) -> Result<Vec<String>, bool> {
    match guarded.resolve(name.parse().unwrap()).await {
        Ok(addresses) => Ok(addresses.map(|address| address.ip().to_string()).collect()),
        Err(error) => Err(error.is::<PrivateAddress>()),
    }
}

fn guarded(names: Names) -> Guarded {
    Guarded { names: Arc::new(names), policy: Arc::new(policy()) }
}

#[tokio::test]
async fn a_private_name_is_reachable_only_if_listed() {
    let server = Server::start(|_| Reply::ok()).await;
    let client = client(policy());
    assert!(get(&client, server.url("a.test", "/")).await.is_ok());
    for host in ["a.example", "localhost", "test"] {
        let error = get(&client, server.url(host, "/")).await.unwrap_err();
        assert_error(&error, "call.denied", &format!("\"{host}\" resolves to a private address"));
        assert!(!error.retryable);
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_system_resolver_is_guarded() {
    let server = Server::start(|_| Reply::ok()).await;
    let error = get(&Client::new(policy()), server.url("localhost", "/")).await.unwrap_err();
    assert_error(&error, "call.denied", "\"localhost\" resolves to a private address");
    assert_eq!(server.requests().len(), 0);

    let listed = NetworkPolicy { private: patterns(&["localhost"]), ..policy() };
    assert!(get(&Client::new(listed), server.url("localhost", "/")).await.is_ok());
}

#[tokio::test]
async fn metadata_is_unreachable_even_if_private_addresses_are_allowed() {
    for address in ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "168.63.129.16", "::ffff:127.0.0.1", "fe80::1"]
    {
        let client = Client::with_names(policy(), Arc::new(Names::always(&[address])));
        let error = get(&client, "http://a.test/".to_owned()).await.unwrap_err();
        assert_error(&error, "call.denied", "\"a.test\" resolves to a private address");
    }
}

#[tokio::test]
async fn one_forbidden_address_refuses_the_name() {
    for addresses in [["1.1.1.1", "10.0.0.1"], ["10.0.0.1", "1.1.1.1"], ["2606:4700::1", "::1"]] {
        assert_eq!(resolve(&guarded(Names::always(&addresses)), "a.example").await, Err(true), "{addresses:?}");
    }
    let public = ["1.1.1.1", "2606:4700::1"];
    assert_eq!(resolve(&guarded(Names::always(&public)), "a.example").await.unwrap(), public);
    assert_eq!(resolve(&guarded(Names::always(&["127.0.0.1", "169.254.169.254"])), "a.test").await, Err(true));
    // No address at all is no refusal.
    assert_eq!(resolve(&guarded(Names::always(&[])), "a.example").await, Err(false));
}

#[tokio::test]
async fn a_name_that_becomes_private_is_refused() {
    let guarded = guarded(Names::in_turn(&[&["1.1.1.1"], &["127.0.0.1"]]));
    assert_eq!(resolve(&guarded, "a.example").await.unwrap(), ["1.1.1.1"]);
    assert_eq!(resolve(&guarded, "a.example").await, Err(true));
}

#[tokio::test]
async fn the_checked_address_is_the_one_connected_to() {
    let server = Server::start(|_| Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")).await;
    let names = Arc::new(Names::in_turn(&[&[LOCAL], &["169.254.169.254"]]));
    let client = Client::with_names(policy(), Arc::clone(&names) as Arc<dyn Resolve>);
    // A second lookup for the connection would go elsewhere.
    assert!(get(&client, server.url("a.test", "/")).await.is_ok());
    assert_eq!(names.asked(), 1);
    let error = get(&client, server.url("a.test", "/")).await.unwrap_err();
    assert_error(&error, "call.denied", "\"a.test\" resolves to a private address");
    assert_eq!((names.asked(), server.requests().len()), (2, 1));
}

/// Spellings of IP addresses, with their canonical form.
const SPELLINGS: [(&str, &str); 14] = [
    ("127.0.0.1", "127.0.0.1"),
    ("127.1", "127.0.0.1"),
    ("2130706433", "127.0.0.1"),
    ("0x7f000001", "127.0.0.1"),
    ("0177.0.0.1", "127.0.0.1"),
    ("127.0.0.1.", "127.0.0.1"),
    ("１２７.0.0.1", "127.0.0.1"),
    ("0", "0.0.0.0"),
    ("169.254.169.254", "169.254.169.254"),
    ("[::1]", "[::1]"),
    ("[::]", "[::]"),
    ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    ("[64:ff9b::7f00:1]", "[64:ff9b::7f00:1]"),
    ("[2002:7f00:1::]", "[2002:7f00:1::]"),
];

/// A policy whose lists allow the addresses, which are private all the same.
fn listed() -> NetworkPolicy {
    let mut domains = patterns(&["*"]);
    domains.extend(SPELLINGS.iter().map(|(_, plain)| DomainPattern::parse(plain).unwrap()));
    NetworkPolicy { domains, ..policy() }
}

#[tokio::test]
async fn a_literal_ip_address_is_refused_in_any_spelling() {
    let server = Server::start(|_| Reply::ok()).await;
    let client = client(listed());
    for (spelling, plain) in SPELLINGS {
        let error = get(&client, server.url(spelling, "/")).await.unwrap_err();
        assert_error(&error, "call.denied", &format!("\"{plain}\" is a private address"));
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_literal_ip_address_is_refused_in_any_spelling() {
    for (spelling, plain) in SPELLINGS {
        let server = Server::start(move |_| Reply::redirect(302, &format!("http://{spelling}/x"))).await;
        let error = get(&client(listed()), server.url("a.test", "/")).await.unwrap_err();
        assert_error(&error, "call.denied", &format!("\"{plain}\" is a private address"));
        assert_eq!(server.requests().len(), 1);
        // Without a list that names it, it is no host that is allowed at all.
        let error = get(&super::client(policy()), server.url("a.test", "/")).await.unwrap_err();
        assert!(error.code == "call.denied" && error.message.ends_with("is not allowed"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_literal_ip_address_listed_as_private_is_reachable() {
    let server = Server::start(|_| Reply::ok()).await;
    let lists = patterns(&[LOCAL, "169.254.169.254"]);
    let client = client(NetworkPolicy { domains: lists.clone(), private: lists, ..policy() });
    assert!(get(&client, server.url("0x7f.1", "/")).await.is_ok());
    let error = get(&client, "http://169.254.169.254/latest".to_owned()).await.unwrap_err();
    assert_error(&error, "call.denied", "\"169.254.169.254\" is a private address");
}
