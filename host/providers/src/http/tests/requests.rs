//! Tests of sent requests.

use super::{Reply, Server, asked, call, operation, policy, provider};
use capability_gen::implementation::{HttpBody, HttpContent, HttpMember, HttpStyle};
use capability_gen::template::Template;
use serde_json::json;

#[tokio::test]
async fn parameters_go_into_path_query_and_headers() {
    let http = json!({
        "path": "/cities/{{a}}/x-{{b}}",
        "query": { "days": "{{c}}", "fixed": "1", "mixed": "<{{b}}>" },
        "headers": { "X-Unit": "{{d}}", "X-Both": "{{a}} {{b}}" },
    });
    let seen = asked(http, json!({ "a": "Sankt Gallen", "b": 7, "c": true, "d": "metric" })).await;
    assert_eq!((seen.method.as_str(), seen.body.as_str()), ("GET", ""));
    assert_eq!(seen.target, "/v1/cities/Sankt%20Gallen/x-7?days=true&fixed=1&mixed=%3C7%3E");
    assert_eq!(seen.header("x-unit"), Some("metric"));
    assert_eq!(seen.header("x-both"), Some("Sankt Gallen 7"));
    assert_eq!(seen.header("accept"), Some("*/*"));
}

#[tokio::test]
async fn absent_parameters_are_omitted() {
    let http = json!({
        "method": "POST", "path": "/",
        "query": { "a": "{{a}}", "b": "x{{b}}" }, "headers": { "X-A": "{{a}}" },
        "body": { "a": "{{a}}", "b": "is {{b}}", "c": "{{c}}", "list": ["{{a}}", 1, "{{d.e}}"], "deep": { "a": "{{a}}" } },
    });
    let seen = asked(http, json!({ "c": null, "d": { "e": 5 } })).await;
    assert_eq!(seen.target, "/v1/");
    assert_eq!(seen.header("x-a"), None);
    assert_eq!(seen.body, r#"{"c":null,"list":[1,5],"deep":{}}"#);
}

#[tokio::test]
async fn a_template_of_one_parameter_keeps_its_json_type() {
    let body = json!({ "a": "{{a}}", "b": "{{b}}", "text": "{{a}} and {{b}}", "n": 1, "all": ["{{ c }}"] });
    let params = json!({ "a": [1, { "x": null }], "b": "{{a}}", "c": 1.5 });
    let seen = asked(json!({ "method": "PUT", "path": "/", "body": body }), params).await;
    let expected = r#"{"a":[1,{"x":null}],"b":"{{a}}","text":"[1,{\"x\":null}] and {{a}}","n":1,"all":[1.5]}"#;
    assert_eq!(seen.body, expected, "and values are not searched for parameters");
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let whole = asked(json!({ "method": "POST", "path": "/", "body": "{{a}}" }), json!({ "a": [1] })).await;
    assert_eq!(whole.body, "[1]");
    let none = asked(json!({ "method": "POST", "path": "/", "body": "{{a}}" }), json!({})).await;
    assert_eq!((none.body.as_str(), none.header("content-type")), ("", None));
}

#[tokio::test]
async fn form_and_text_bodies_have_media_types() {
    let form = json!({ "method": "POST", "path": "/", "form": { "a b": "{{a}}", "c": "{{b}}", "d": "{{d}}" } });
    let seen = asked(form, json!({ "a": "1&x=2", "b": [1, 2] })).await;
    assert_eq!(seen.body, "a%20b=1%26x%3D2&c=1&c=2");
    assert_eq!(seen.header("content-type"), Some("application/x-www-form-urlencoded"));
    let text = json!({ "method": "POST", "path": "/", "text": "Dear {{a}}" });
    let seen = asked(text, json!({ "a": "Ada" })).await;
    assert_eq!((seen.body.as_str(), seen.header("content-type")), ("Dear Ada", Some("text/plain; charset=utf-8")));
    let own = json!({
        "method": "POST", "path": "/", "body": {}, "headers": { "content-type": "application/vnd.api+json" },
    });
    assert_eq!(asked(own, json!({})).await.header("content-type"), Some("application/vnd.api+json"));
}

#[tokio::test]
async fn lists_and_objects_follow_their_style() {
    let list = json!([1, "x,y", true]);
    let object = json!({ "p": 1, "q": ["r", "s"], "none": null });
    for (style, value, target) in [
        ("repeat", &list, "a=1&a=x%2Cy&a=true"),
        ("comma", &list, "a=1,x%2Cy,true"),
        ("space", &list, "a=1%20x%2Cy%20true"),
        ("pipe", &list, "a=1%7Cx%2Cy%7Ctrue"),
        ("brackets", &list, "a%5B%5D=1&a%5B%5D=x%2Cy&a%5B%5D=true"),
        ("json", &list, "a=%5B1%2C%22x%2Cy%22%2Ctrue%5D"),
        ("members", &object, "p=1&q=r&q=s"),
        ("brackets", &object, "a%5Bp%5D=1&a%5Bq%5D=r&a%5Bq%5D=s"),
        ("comma", &json!({ "p": 1, "q": 2 }), "a=p,1,q,2"),
        ("repeat", &json!([]), ""),
        ("repeat", &json!(null), ""),
    ] {
        let http = json!({ "path": "/", "query": { "a": { "value": "{{a}}", "style": style } } });
        let expected = if target.is_empty() { "/v1/".to_owned() } else { format!("/v1/?{target}") };
        assert_eq!(asked(http, json!({ "a": value })).await.target, expected, "{style} {value}");
    }
    let http = json!({ "path": "/{{a}}", "headers": { "X-A": "{{a}}" } });
    let seen = asked(http, json!({ "a": ["x", "y,z"] })).await;
    assert_eq!((seen.target.as_str(), seen.header("x-a")), ("/v1/x,y%2Cz", Some("x,y,z")));
}

#[tokio::test]
async fn unencodable_parameters_are_refused_before_sending() {
    let server = Server::start(|_| Reply::json(json!(1))).await;
    for (http, params) in [
        (json!({ "path": "/{{a}}" }), json!({ "a": { "b": 1 } })),
        (json!({ "path": "/{{a}}" }), json!({ "a": null })),
        (json!({ "path": "/{{a}}" }), json!({})),
        (json!({ "path": "/", "query": { "a": "{{a}}" } }), json!({ "a": { "b": 1 } })),
        (json!({ "path": "/", "query": { "a": "{{a}}" } }), json!({ "a": [[1]] })),
        (json!({ "path": "/", "query": { "a": "{{a}}" } }), json!({ "a": vec![1; 10_001] })),
        (json!({ "path": "/", "headers": { "a": "{{a}}" } }), json!({ "a": [{}] })),
    ] {
        let error = call(&server, http.clone(), params).await.unwrap_err();
        assert_eq!(error.code, "call.invalid", "{http}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn cookies_and_optional_bodies_are_sent() {
    let server = Server::start(|_| Reply::json(json!(null))).await;
    let mut operation = operation(&server, json!({ "method": "POST", "path": "/" }));
    let member = |name: &str, text: &str| HttpMember {
        name: name.into(),
        value: Template::parse(text).unwrap(),
        style: HttpStyle::Comma,
    };
    operation.cookies = vec![member("lang", "{{a}}"), member("x", "{{b}}")];
    let content = HttpContent::Json(json!({ "c": "{{c}}" }));
    operation.body = Some(HttpBody { media_type: "application/json".into(), content, is_optional: true });
    let provider = provider(policy());
    provider.call(&operation, &json!({ "a": "de; x=1" }), None).await.unwrap();
    provider.call(&operation, &json!({ "c": 1 }), None).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].header("cookie"), Some("lang=de%3B%20x%3D1"));
    assert_eq!((seen[0].body.as_str(), seen[1].body.as_str()), ("", r#"{"c":1}"#));
}

#[tokio::test]
async fn only_requests_that_are_not_idempotent_have_a_key() {
    let server = Server::start(|_| Reply::json(json!(null))).await;
    let provider = provider(policy());
    let own = json!({ "method": "POST", "path": "/", "headers": { "Idempotency-Key": "mine" } });
    let sent = [
        (json!({ "method": "POST", "path": "/" }), Some("run_1/2"), Some("\"run_1/2\"")),
        (json!({ "method": "PATCH", "path": "/" }), Some("run_1/2"), Some("\"run_1/2\"")),
        (json!({ "method": "POST", "path": "/" }), None, None),
        (json!({ "method": "PUT", "path": "/" }), Some("run_1/2"), None),
        (json!({ "path": "/" }), Some("run_1/2"), None),
        (own, Some("run_1/2"), Some("mine")),
    ];
    for (http, key, expected) in sent {
        provider.call(&operation(&server, http.clone()), &json!({}), key.map(str::to_owned)).await.unwrap();
        assert_eq!(server.seen().last().unwrap().header("idempotency-key"), expected, "{http}");
    }
}
