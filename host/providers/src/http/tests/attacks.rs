//! Injection by parameters, and misbehaving servers.

use super::{Reply, Server, asked, call, operation, policy, provider};
use crate::http::{address, body, fill, query};
use agent_spaces_policy::{DomainPattern, NetworkRefusal};
use agent_spaces_std::{RefusalReason, Refused};
use capability_gen::implementation::{HttpBody, HttpContent, HttpMember, HttpOperation, HttpPathStyle, HttpStyle};
use capability_gen::template::Template;
use proptest::prelude::*;
use serde_json::json;
use url::Url;

#[tokio::test]
async fn a_path_parameter_stays_one_segment() {
    for (value, sent) in [
        ("../admin?x=", "..%2Fadmin%3Fx%3D"),
        ("..\\admin", "..%5Cadmin"),
        ("%2e%2e%2f", "%252e%252e%252f"),
        ("a/../../b", "a%2F..%2F..%2Fb"),
        ("#fragment", "%23fragment"),
        ("@evil.example", "%40evil.example"),
        ("//evil.example", "%2F%2Fevil.example"),
        (":80", "%3A80"),
        ("a;b=c", "a%3Bb%3Dc"),
        ("\r\nHost: evil", "%0D%0AHost%3A%20evil"),
        ("\0", "%00"),
        ("ﬁ／．．", "%EF%AC%81%EF%BC%8F%EF%BC%8E%EF%BC%8E"),
        ("...", "..."),
    ] {
        let seen = asked(json!({ "path": "/x/{{a}}/y" }), json!({ "a": value })).await;
        assert_eq!(seen.target, format!("/v1/x/{sent}/y"), "{value:?}");
        assert!(seen.header("host").is_some_and(|host| host.starts_with("localhost:")), "{value:?}");
    }
}

#[tokio::test]
async fn a_segment_cannot_become_empty_or_dots() {
    let server = Server::start(|_| Reply::json(json!(1))).await;
    for (path, params) in [
        ("/x/{{a}}/y", json!({ "a": "." })),
        ("/x/{{a}}/y", json!({ "a": ".." })),
        ("/x/{{a}}/y", json!({ "a": "" })),
        ("/x/{{a}}", json!({ "a": [] })),
        ("/x/.{{a}}", json!({ "a": "." })),
        ("/x/%2e{{a}}", json!({ "a": "." })),
        ("/x/{{a}}{{b}}", json!({ "a": ".", "b": "." })),
    ] {
        let error = call(&server, json!({ "path": path }), params.clone()).await.unwrap_err();
        assert_eq!(error.code, "call.invalid", "{path} {params}");
        assert!(error.message.contains("cannot be empty"), "{error:?}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn a_query_parameter_stays_one_value() {
    for (value, sent) in
        [("1&admin=true", "1%26admin%3Dtrue"), ("a#b", "a%23b"), ("a+b %", "a%2Bb%20%25"), ("é", "%C3%A9")]
    {
        let seen = asked(json!({ "path": "/", "query": { "a": "{{a}}" } }), json!({ "a": value })).await;
        assert_eq!(seen.target, format!("/v1/?a={sent}"), "{value:?}");
    }
}

#[tokio::test]
async fn a_header_parameter_cannot_inject_a_header() {
    let server = Server::start(|_| Reply::json(json!(1))).await;
    for value in ["x\r\nX-Admin: yes", "x\nX-Admin: yes", "x\rY", "x\0y", "日本"] {
        let http = json!({ "path": "/", "headers": { "X-A": "{{a}}" } });
        let error = call(&server, http, json!({ "a": value })).await.unwrap_err();
        assert_eq!(error.code, "call.invalid", "{value:?}");
        assert!(error.message.starts_with("The header X-A cannot have line breaks"), "{error:?}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn the_network_policy_applies() {
    let server = Server::start(|_| Reply::json(json!(1))).await;
    let request = operation(&server, json!({ "path": "/" }));
    let denied = |policy| {
        let request = request.clone();
        async move { provider(policy).call(&request, &json!({}), None).await.unwrap_err() }
    };
    let error = denied(agent_spaces_policy::NetworkPolicy::default()).await;
    assert_eq!((error.code.as_str(), error.message.as_str()), ("call.denied", "Network access is disabled"));
    let mut other = policy();
    other.domains.clear();
    assert_eq!(denied(other).await.message, "Domain \"localhost\" is not allowed");
    let mut inner = policy();
    inner.private.clear();
    assert_eq!(denied(inner).await.message, "\"localhost\" resolves to a private address");
    let mut reading = policy();
    reading.methods = Some(vec!["HEAD".into()]);
    assert_eq!(denied(reading).await.message, "Method GET is not allowed");
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn a_definition_without_a_server_sends_nothing() {
    let server = Server::start(|_| Reply::json(json!(1))).await;
    let mut request = operation(&server, json!({ "path": "/" }));
    for url in ["/pets/{{a}}", "{{a}}", "file:///etc/passwd", "", "javascript:{{a}}"] {
        request.url = Template::parse(url).unwrap();
        let error = provider(policy()).call(&request, &json!({ "a": "http://localhost/" }), None).await.unwrap_err();
        assert_eq!(error.code, "call.unavailable", "{url}");
        assert_eq!(address::origin(&request), None, "{url}");
    }
}

#[tokio::test]
async fn huge_responses_are_refused() {
    let server = Server::start(|_| Reply::new("200 OK\r\ncontent-type: application/json", vec![b' '; 65 << 10])).await;
    let error = call(&server, json!({ "path": "/" }), json!({})).await.unwrap_err();
    assert_eq!(error.code, "call.failed");
    assert!(error.message.contains("more than 65536 bytes"), "{error:?}");
}

/// A request to an address.
fn to(url: Template) -> HttpOperation {
    let operation = json!({ "method": "GET", "url": url.text() });
    serde_json::from_value(operation).unwrap()
}

/// Path styles of API documents, by the tables of RFC 6570.
#[test]
fn lists_and_objects_in_a_path_follow_their_style() {
    let (list, object) = (json!(["b/c", 1]), json!({ "R": 100, "G": "a,b" }));
    for (url, style, between, value, path) in [
        ("/{{a}}", HttpStyle::Comma, ",", &list, "/b%2Fc,1"),
        ("/{{a}}", HttpStyle::Comma, ",", &object, "/R,100,G,a%2Cb"),
        ("/{{a}}", HttpStyle::Members, ",", &object, "/R=100,G=a%2Cb"),
        ("/.{{a}}", HttpStyle::Members, ".", &list, "/.b%2Fc.1"),
        ("/.{{a}}", HttpStyle::Members, ".", &object, "/.R=100.G=a%2Cb"),
        ("/;a={{a}}", HttpStyle::Repeat, ";a=", &list, "/;a=b%2Fc;a=1"),
        ("/;{{a}}", HttpStyle::Members, ";", &object, "/;R=100;G=a%2Cb"),
        ("/{{a}}", HttpStyle::Json, ",", &list, "/%5B%22b%2Fc%22%2C1%5D"),
    ] {
        let mut operation = to(Template::parse(&format!("https://api.example.com{url}")).unwrap());
        operation.path.insert("a".into(), HttpPathStyle { style, between: between.into() });
        assert_eq!(address::fill(&operation, &json!({ "a": value })).unwrap().path(), path);
    }
    let plain = to(Template::parse("https://api.example.com/{{a}}").unwrap());
    assert_eq!(address::fill(&plain, &json!({ "a": object })).unwrap_err().code, "call.invalid");
}

#[tokio::test]
async fn the_total_size_of_headers_is_limited() {
    let server = Server::start(|_| Reply::json(json!(1))).await;
    let http = json!({ "path": "/", "headers": { "X-A": "{{a}}", "X-B": "{{b}}" } });
    let half = vec!["x"; 17 << 10];
    let error = call(&server, http.clone(), json!({ "a": half, "b": half })).await.unwrap_err();
    assert_eq!(error.code, "call.invalid");
    assert_eq!(error.message, "X-B would make the headers longer than 65536 bytes: pass less");
    assert_eq!(server.seen().len(), 0);
    let mut large = operation(&server, http);
    large.headers[0].style = HttpStyle::Json;
    let error = provider(policy()).call(&large, &json!({ "a": "x".repeat(70 << 10) }), None).await.unwrap_err();
    assert!(error.message.starts_with("X-A would make"), "{error:?}");
}

#[tokio::test]
async fn a_policy_refusal_is_reported_as_data() {
    let other = Server::start(|_| Reply::json(json!(1))).await;
    let to = other.origin().replace("localhost", "127.0.0.1");
    let server = Server::start(move |_| Reply::new(&format!("302 x\r\nlocation: {to}/"), "")).await;
    let request = operation(&server, json!({ "path": "/" }));
    let refused = async |policy| *provider(policy).call(&request, &json!({}), None).await.unwrap_err().refused.unwrap();
    let of = |host: &str, reason| Refused { host: host.into(), reason };
    let unlisted = RefusalReason::Policy(NetworkRefusal::Unlisted("127.0.0.1".into()));
    assert_eq!(refused(policy()).await, of("127.0.0.1", unlisted), "the host of the redirect");
    let mut inner = policy();
    inner.private.clear();
    assert_eq!(refused(inner.clone()).await, of("localhost", RefusalReason::Private));
    inner.domains.push(DomainPattern::parse("169.254.169.254").unwrap());
    let mut metadata = request.clone();
    metadata.url = Template::parse("http://169.254.169.254/").unwrap();
    let error = provider(inner).call(&metadata, &json!({}), None).await.unwrap_err();
    assert_eq!(*error.refused.unwrap(), of("169.254.169.254", RefusalReason::Never));
    // A server's text is no refusal, whatever it says.
    let liar = Server::start(|_| Reply::new("403 x", "\"a private address\"")).await;
    let http = json!({ "path": "/", "errors": { "*": { "from": "" } } });
    let error = call(&liar, http, json!({})).await.unwrap_err();
    assert_eq!((error.message.as_str(), error.refused), ("a private address", None));
}

proptest! {
    /// For any parameter, the URL has the definition's origin and number of segments.
    #[test]
    fn no_parameter_changes_the_structure_of_the_url(a in any::<String>(), b in "[./\\\\%@:?#a-f0-9 ]{0,12}") {
        let template = Template::parse("https://api.example.com:8443/v1/{{a}}/x-{{b}}/y").unwrap();
        match address::fill(&to(template), &json!({ "a": a, "b": b })) {
            Err(error) => prop_assert!(matches!(a.as_str(), "" | "." | ".."), "{:?} {:?}: {}", a, b, error),
            Ok(url) => {
                prop_assert_eq!(url.origin(), Url::parse("https://api.example.com:8443").unwrap().origin());
                prop_assert_eq!(url.path_segments().unwrap().count(), 4);
                prop_assert!(url.path().starts_with("/v1/") && url.path().ends_with("/y"));
                prop_assert!(url.query().is_none() && url.fragment().is_none() && url.username().is_empty());
            }
        }
    }
}

/// A short definition may repeat a large parameter many times.
#[test]
fn a_repeated_parameter_is_limited_in_size() {
    let params = json!({ "a": "x".repeat(4 << 20) });
    let repeated = "{{a}}".repeat(100);
    let template = Template::parse(&format!("https://api.example.com/{repeated}")).unwrap();
    assert!(address::fill(&to(template), &params).unwrap_err().message.contains("too long"));
    let text = Template::parse(&repeated).unwrap();
    let member = HttpMember { name: "q".into(), value: text.clone(), style: HttpStyle::Repeat };
    assert!(query::pairs(std::slice::from_ref(&member), &params, fill::MAX_MEMBER).is_err());
    let sole = HttpMember { value: Template::parse("{{a}}").unwrap(), ..member.clone() };
    assert!(query::pairs(&vec![sole; 20], &params, fill::MAX_BODY).is_err());
    let contents =
        [HttpContent::Text(text), HttpContent::Json(json!([repeated])), HttpContent::Json(json!(vec!["{{a}}"; 20]))];
    for content in contents {
        let body = HttpBody { media_type: "text/plain".into(), content, is_optional: false };
        assert!(body::bytes(&body, &params).unwrap_err().message.contains("too long"));
    }
}
