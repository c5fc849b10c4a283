//! Hosts and methods that a policy allows.

use crate::standard::support::{Project, Site, script};
use serde_json::{Value, json};

/// The texts that requests of these methods to these addresses are refused with, or their status.
fn outcomes(project: &Project, requests: &[(&str, &str)]) -> Value {
    let body = format!(
        "const found = [];
        for (const [method, url] of {}) {{
            const {{ value, code, message }} = await attempt(() => http.request(method, url));
            found.push(value?.status ?? (code === 'call.denied' ? message : [code, message]));
        }}
        found",
        json!(requests)
    );
    project.run(&script(&body)).value()
}

#[test]
fn denials_have_the_documented_message() {
    let disabled = json!(["Network access is disabled"]);
    for policy in [json!("restrictive"), json!({ "http": { "enabled": false, "domains": ["*"] } })] {
        assert_eq!(
            outcomes(&Project::with_policy(policy.clone()), &[("GET", "http://a.example/")]),
            disabled,
            "{policy}"
        );
    }
    let http = json!({ "domains": ["api.example", "*.acme.example"], "blocked": ["evil.acme.example"] });
    let project = Project::with_policy(json!({ "http": http }));
    let found = outcomes(
        &project,
        &[
            ("GET", "http://evil.acme.example/"),
            ("GET", "http://EVIL.acme.example./"),
            ("GET", "http://acme.example/"),
            ("GET", "https://other.example/"),
            ("GET", "http://api.example.other.example/"),
            ("GET", "http://api.example@other.example/"),
            ("POST", "http://api.example/"),
        ],
    );
    let expected = json!([
        "Domain \"evil.acme.example\" is blocked",
        "Domain \"evil.acme.example\" is blocked",
        "Domain \"acme.example\" is not allowed",
        "Domain \"other.example\" is not allowed",
        "Domain \"api.example.other.example\" is not allowed",
    ]);
    assert_eq!(found.as_array().unwrap()[..5], expected.as_array().unwrap()[..], "{found}");
    assert_ne!(found[5], 200, "{found}");
    assert_eq!(found[6], "Method POST is not allowed");
}

#[test]
fn standard_allows_reading_methods_and_permissive_all() {
    let site = Site::echo();
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let requests: Vec<(&str, String)> = methods.iter().map(|method| (*method, site.url("/"))).collect();
    let requests: Vec<(&str, &str)> = requests.iter().map(|(method, url)| (*method, url.as_str())).collect();
    let http = json!({ "domains": ["localhost"], "private": ["localhost"] });
    let refused = |method: &str| json!(format!("Method {method} is not allowed"));
    let standard: Vec<Value> =
        methods.iter().enumerate().map(|(at, method)| if at < 2 { json!(200) } else { refused(method) }).collect();
    for policy in [json!({ "preset": "standard", "http": http }), json!({ "http": http })] {
        assert_eq!(outcomes(&Project::with_policy(policy), &requests), json!(standard));
    }
    let sent: Vec<String> = site.asked().into_iter().map(|request| request.method).collect();
    assert_eq!(sent, ["GET", "HEAD", "GET", "HEAD"]);
    let all = Project::with_policy(json!({ "preset": "permissive", "http": http }));
    assert_eq!(outcomes(&all, &requests), json!(vec![200; 7]));
    let some = json!({ "domains": ["localhost"], "private": ["localhost"], "methods": ["POST"] });
    let found = outcomes(&Project::with_policy(json!({ "http": some })), &requests[..3]);
    assert_eq!(found, json!([refused("GET"), refused("HEAD"), 200]));
}

/// Settings of a space replace the lists of all spaces, and nothing else.
#[test]
fn a_spaces_list_replaces_the_global_one() {
    let http = |domain: &str| json!({ "http": { "domains": [domain] } });
    let spaces = json!({ "work": { "policy": http("one.example") }, "other": {} });
    let project = Project::new(json!({ "policy": http("two.example"), "spaces": spaces }));
    let source = script(
        "const said = async (url) => (await attempt(() => http.get(url))).message;
        [await said('http://one.example:1/'), await said('http://two.example:1/')]",
    );
    let denied = |domain: &str| json!(format!("Domain \"{domain}\" is not allowed"));
    assert_eq!(project.run(&source).value()[1], denied("two.example"));
    let other = project.run_with(&source, &["--space", "other", "--json"]).value();
    assert_eq!(other[0], denied("one.example"));
}
