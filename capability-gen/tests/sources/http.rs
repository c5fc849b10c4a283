use crate::sources::{one, refused};
use capability_gen::implementation::{HttpContent, HttpNext, HttpOperation, Implementation};
use serde_json::{Value, json};

fn weather() -> Value {
    json!({
        "name": "weather",
        "http": { "baseUrl": "https://api.example.com/v1/", "headers": { "Accept-Language": "en", "X-Unit": "metric" } },
        "functions": [{
            "name": "forecast",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": { "type": "string" }, "days": { "type": "integer" }, "unit": { "type": "string" },
                    "where": { "type": "object" }, "note": { "type": "string" }
                },
                "required": ["city"]
            },
            "http": {
                "path": "/cities/{{city}}/forecast",
                "query": { "days": "{{days}}", "at": { "value": "{{where}}", "style": "brackets" }, "v": 2 },
                "headers": { "x-unit": "{{unit}}" },
                "result": "/data/items",
                "errors": {
                    "404": { "code": "weather.no_such_city", "message": "No such city: {{city}}" },
                    "5xx": { "retryable": true },
                    "*": { "from": "/error/message" }
                }
            }
        }]
    })
}

fn http(document: &Value) -> HttpOperation {
    match one(document).functions.remove(0).implementation {
        Some(Implementation::Http(http)) => *http,
        other => panic!("{other:?}"),
    }
}

/// The document with another `http` of its function.
fn with(http: Value) -> Value {
    let mut document = weather();
    document["functions"][0]["http"] = http;
    document
}

#[test]
fn a_request_is_read_with_the_defaults_of_its_tool() {
    let http = http(&weather());
    assert_eq!((http.method.as_str(), http.url.text()), ("GET", "https://api.example.com/v1/cities/{{city}}/forecast"));
    let headers: Vec<_> = http.headers.iter().map(|header| (header.name.as_str(), header.value.text())).collect();
    assert_eq!(headers, [("Accept-Language", "en"), ("x-unit", "{{unit}}")]);
    let query: Vec<_> = http.query.iter().map(|member| (member.name.as_str(), member.value.text())).collect();
    assert_eq!(query, [("days", "{{days}}"), ("at", "{{where}}"), ("v", "2")]);
    assert_eq!(http.result.as_deref(), Some("/data/items"));
    assert_eq!(http.errors["404"].code.as_deref(), Some("weather.no_such_city"));
    assert_eq!((http.errors["5xx"].retryable, http.errors["*"].from.as_deref()), (Some(true), Some("/error/message")));
}

#[test]
fn a_request_round_trips_through_serde() {
    let operation = http(&with(json!({
        "method": "post", "url": "https://a.example/{{city}}", "body": { "note": "{{note}}", "n": [1, "{{days}}"] },
    })));
    let text = serde_json::to_string(&Implementation::Http(Box::new(operation.clone()))).unwrap();
    assert_eq!(serde_json::from_str::<Implementation>(&text).unwrap(), Implementation::Http(Box::new(operation)));
    let pages = http(&with(json!({ "path": "/", "pages": { "items": "", "link": true } })));
    let text = serde_json::to_string(&pages).unwrap();
    assert_eq!(serde_json::from_str::<HttpOperation>(&text).unwrap(), pages);
}

#[test]
fn bodies_and_pagination_are_read() {
    let body = |http_: Value| http(&with(http_)).body.unwrap();
    let form = body(json!({ "method": "POST", "path": "/", "form": { "a": "{{note}}" } }));
    assert_eq!(form.media_type, "application/x-www-form-urlencoded");
    assert!(matches!(form.content, HttpContent::Form(members) if members[0].name == "a"));
    let text = body(json!({ "method": "PUT", "path": "/", "text": "{{note}}!" }));
    assert!(matches!(text.content, HttpContent::Text(template) if template.text() == "{{note}}!"));
    let pages = |pages: Value| http(&with(json!({ "path": "/", "pages": pages }))).pages.unwrap();
    let cursor = pages(json!({ "items": "/items", "next": "/next", "parameter": "cursor", "max": 3 }));
    assert_eq!((cursor.items.as_str(), cursor.max), ("/items", 3));
    assert_eq!(cursor.next, HttpNext::Cursor { at: "/next".into(), parameter: "cursor".into() });
    assert_eq!(pages(json!({ "items": "", "next": "/next" })).next, HttpNext::Url("/next".into()));
    assert_eq!(pages(json!({ "items": "", "link": true })).next, HttpNext::Link);
}

/// Checks that an `http` is refused at a place below it.
#[track_caller]
fn wrong(http: Value, path: &str, message: &str, fix: &str) {
    refused(&with(http), &format!("$.functions[0].http{path}"), message, fix);
}

#[test]
fn mistakes_are_refused_with_a_suggestion() {
    wrong(json!({ "pth": "/" }), ".pth", "is not a key", "\"path\"");
    wrong(json!({ "path": "/{{cty}}" }), ".path", "no parameter \"cty\"", "{{city}}");
    wrong(json!({ "path": "/", "query": { "a": "{{dys}}" } }), ".query.a", "\"dys\"", "{{days}}");
    wrong(json!({ "path": "/", "headers": { "a": "{{zzz}}" } }), ".headers.a", "\"zzz\"", "add it");
    wrong(
        json!({ "method": "POST", "path": "/", "body": { "a": ["{{citi}}"] } }),
        ".body.a[0]",
        "\"citi\"",
        "{{city}}",
    );
    wrong(
        json!({ "path": "/", "errors": { "404": { "message": "{{citty}}" } } }),
        ".errors[\"404\"].message",
        "citty",
        "{{city}}",
    );
    wrong(json!({ "path": "/{{days}}" }), ".path", "may be absent", "required");
    wrong(json!({ "path": "/{{city" }), ".path", "has no \"}}\"", "{{petId}}");
    wrong(json!({ "method": "FETCH", "path": "/" }), ".method", "unsupported HTTP method \"FETCH\"", "GET");
    wrong(json!({ "method": "TRACE", "path": "/" }), ".method", "\"TRACE\"", "GET");
    wrong(json!({}), "", "no URL", "\"path\"");
    wrong(json!({ "path": "/", "url": "https://a.example/" }), ".url", "\"path\" too", "one of the two");
    wrong(json!({ "path": "/", "body": 1 }), ".body", "GET request has no body", "query");
    wrong(json!({ "method": "POST", "path": "/", "body": 1, "form": {} }), ".form", "another body", "all but one");
    wrong(json!({ "path": "/", "result": "data" }), ".result", "invalid JSON pointer", "/data/items");
    wrong(json!({ "path": "/", "result": "/a~2" }), ".result", "invalid JSON pointer", "/data/items");
    wrong(json!({ "path": "/", "errors": { "200": {} } }), ".errors[\"200\"]", "invalid error status", "404");
    wrong(
        json!({ "path": "/", "errors": { "404": { "code": "Bad" } } }),
        ".errors[\"404\"].code",
        "invalid error code",
        "dots",
    );
    let reserved = ["script", "import", "limit", "run", "host", "config"].map(|prefix| format!("{prefix}.x"));
    let decisions = ["call.denied", "call.approval_denied", "call.audit_unavailable"].map(str::to_owned);
    for code in reserved.iter().chain(&decisions) {
        let http = json!({ "path": "/", "errors": { "404": { "code": code } } });
        wrong(http, ".errors[\"404\"].code", "reserved for the host", "of your own");
    }
    wrong(json!({ "path": "/", "response": "xml" }), ".response", "\"xml\"", "json");
    wrong(json!({ "path": "/", "query": { "a": { "value": "x", "style": "csv" } } }), ".query.a.style", "csv", "comma");
    let pages = json!({ "items": "/items", "link": true });
    wrong(json!({ "path": "/", "result": "/a", "pages": pages }), ".pages", "\"result\" too", "items");
    wrong(json!({ "path": "/", "method": "POST", "pages": pages }), ".pages", "POST", "GET");
    wrong(json!({ "path": "/", "pages": { "items": "" } }), ".pages", "location of the next page", "Link");
    wrong(
        json!({ "path": "/", "pages": { "items": "", "link": true, "max": 101 } }),
        ".pages.max",
        "invalid number of pages",
        "100",
    );
    let mut both = weather();
    both["functions"][0]["script"] = json!({ "file": "./a.ts" });
    refused(&both, "$.functions[0].script", "the function already has an implementation", "one of the two");
    let mut alone = weather();
    alone.as_object_mut().unwrap().remove("http");
    refused(&alone, "$.functions[0].http.path", "no server", "baseUrl");
}

#[test]
fn parameters_cannot_change_scheme_host_or_port() {
    for url in [
        "https://{{city}}.example.com/",
        "https://{{city}}/",
        "https://a.example:{{city}}/",
        "https://{{city}}@a.example/",
        "{{city}}://a.example/",
        "https:{{city}}//a.example/",
        "https://a.example{{city}}",
    ] {
        wrong(json!({ "url": url }), ".url", "in the scheme, the host or the port", "path and the query");
    }
    for url in [
        "//a.example/",
        "ftp://a.example/",
        "https://user@a.example/",
        "https://a.example\\@b.example/",
        "https://a.example/?x={{city}}",
        "https://a.example/#{{city}}",
        "https://a.example/../{{city}}",
        "https://a.example/a b",
        "https://a.example/%g0",
        "/path",
    ] {
        assert!(crate::sources::read(&with(json!({ "url": url }))).is_err(), "{url}");
    }
    let mut base = weather();
    base["http"]["baseUrl"] = json!("https://{{city}}.example.com");
    refused(&base, "$.http.baseUrl", "a parameter in it", "path");
}

#[test]
fn credentials_and_headers_of_the_connection_are_refused() {
    for name in ["Authorization", "cookie", "Proxy-Authorization", "proxy-x"] {
        let place = format!(".headers{}", if name == "cookie" { ".cookie".to_owned() } else { format!("[{name:?}]") });
        let place = if name == "Authorization" { ".headers.Authorization".to_owned() } else { place };
        wrong(json!({ "path": "/", "headers": { name: "x" } }), &place, "carries credentials", "\"origins\"");
    }
    for name in ["Host", "CONNECTION", "Upgrade", "TE"] {
        let place = format!(".headers.{name}");
        wrong(json!({ "path": "/", "headers": { name: "x" } }), &place, "set by the connection", "Leave it out");
    }
    wrong(json!({ "path": "/", "headers": { "a b": "x" } }), ".headers[\"a b\"]", "invalid header name", "letters");
    wrong(json!({ "path": "/", "headers": { "a": "x\r\nb: c" } }), ".headers.a", "control character", "Remove it");
    wrong(json!({ "path": "/", "headers": { "a": "1", "A": "2" } }), ".headers", "duplicate header", "one of the two");
    let mut shared = weather();
    shared["http"]["headers"] = json!({ "Authorization": "x" });
    refused(&shared, "$.http.headers.Authorization", "carries credentials", "\"providers\"");
    shared["http"]["headers"] = json!({ "X-City": "{{city}}" });
    refused(&shared, "$.http.headers[\"X-City\"]", "no parameter", "without placeholders");
}

#[test]
fn sizes_are_limited() {
    let many: serde_json::Map<_, _> = (0..101).map(|index| (format!("a{index}"), json!("x"))).collect();
    wrong(json!({ "path": "/", "query": many }), ".query", "more than 100", "Leave some out");
    wrong(json!({ "path": "/", "headers": { "a": "x".repeat(9_000) } }), ".headers.a", "more than 8192", "Shorten");
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    let error = crate::sources::read(&with(json!({ "method": "POST", "path": "/", "body": deep }))).unwrap_err();
    assert!(error.message.contains("nested more than 32"), "{error}");
    wrong(json!({ "method": "POST", "path": "/", "body": "x".repeat(70_000) }), ".body", "more than 65536", "Shorten");
    wrong(
        json!({ "path": "/", "result": format!("/{}", "a".repeat(2_000)) }),
        ".result",
        "invalid JSON pointer",
        "path",
    );
}
