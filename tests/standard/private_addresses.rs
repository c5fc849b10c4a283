//! Private network addresses.

use crate::standard::support::{Project, Reply, Site, script};
use serde_json::{Value, json};

/// URLs of this machine, with the port of a running server, and of cloud metadata.
fn spellings(port: u16) -> Vec<String> {
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[::]",
        "[64:ff9b::7f00:1]",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "①27.0.0.1",
    ]
    .iter()
    .map(|host| format!("http://{host}:{port}/inner"))
    .chain(
        ["http://169.254.169.254/latest", "http://2852039166/latest", "http://[fd00:ec2::254]/latest"]
            .map(str::to_owned),
    )
    .collect()
}

/// Outcome of a request to each address, with `http`.
fn outcomes(project: &Project, urls: &[String]) -> Vec<Value> {
    let body = format!(
        "const found = [];
        for (const url of {}) found.push(await attempt(() => http.get(url, {{ timeoutMs: 3000 }})));
        found",
        json!(urls)
    );
    let outcomes = project.run(&script(&body)).value().as_array().unwrap().clone();
    assert_eq!(outcomes.len(), urls.len(), "{outcomes:?}");
    outcomes
}

/// The policies that come closest to allowing it.
fn policies() -> [Value; 3] {
    let listed = json!(["localhost", "*", "127.0.0.1", "0.0.0.0", "169.254.169.254", "[::1]"]);
    [
        json!({ "preset": "permissive", "http": { "private": ["localhost"] } }),
        json!({ "preset": "permissive", "http": { "domains": listed, "private": ["localhost"] } }),
        json!({ "preset": "permissive", "http": { "domains": ["localhost"], "private": ["localhost"] } }),
    ]
}

#[test]
fn private_addresses_are_refused_in_any_spelling() {
    let site = Site::start(|_| Reply::text("inner"));
    let urls = spellings(site.port);
    for policy in policies() {
        for (url, outcome) in urls.iter().zip(outcomes(&Project::with_policy(policy.clone()), &urls)) {
            let code = outcome["code"].as_str().unwrap_or_default();
            assert!(["call.denied", "call.invalid"].contains(&code), "{policy} {url}: {outcome}");
        }
    }
    assert!(site.asked().is_empty(), "{:?}", site.paths());
}

#[test]
fn redirects_to_private_addresses_are_refused() {
    let inner = Site::start(|_| Reply::text("inner"));
    let urls = spellings(inner.port);
    let targets = urls.clone();
    let site = Site::start(move |request| match request.path.trim_start_matches('/').parse::<usize>() {
        Ok(number) => Reply::Redirect(302, targets[number].clone()),
        Err(_) => Reply::text("reached"),
    });
    let asked: Vec<String> = (0..urls.len()).map(|number| site.url(&format!("/{number}"))).collect();
    for policy in policies() {
        let project = Project::with_policy(policy.clone());
        for (url, outcome) in urls.iter().zip(outcomes(&project, &asked)) {
            assert_eq!(outcome["code"], "call.denied", "{policy} {url}: {outcome}");
        }
    }
    assert_eq!(site.asked().len(), urls.len() * 3, "each was asked for the redirect itself");
    assert!(inner.asked().is_empty(), "{:?}", inner.paths());
    // The other side: a redirect to a host that may be private is followed.
    let both = Site::start({
        let to = inner.url("/inner");
        move |_| Reply::Redirect(302, to.clone())
    });
    let [_, _, policy] = policies();
    let found = outcomes(&Project::with_policy(policy), &[both.url("/")]);
    assert_eq!(found[0]["value"]["text"], "inner", "{found:?}");
}

#[test]
fn a_name_with_a_private_address_is_refused_unless_allowed() {
    let site = Site::start(|_| Reply::text("inner"));
    let denied = |policy: Value| outcomes(&Project::with_policy(policy), &[site.url("/")])[0]["message"].clone();
    assert_eq!(denied(json!({ "http": { "domains": ["localhost"] } })), "\"localhost\" resolves to a private address");
    assert_eq!(denied(json!("permissive")), "\"localhost\" resolves to a private address");
    // It must be listed among the domains too.
    let private = json!({ "http": { "domains": ["a.example"], "private": ["localhost"] } });
    assert_eq!(denied(private), "Domain \"localhost\" is not allowed");
    assert!(site.asked().is_empty());
    let allowed = json!({ "http": { "domains": ["127.0.0.1"], "private": ["127.0.0.1"] } });
    let url = format!("http://127.0.0.1:{}/", site.port);
    assert_eq!(outcomes(&Project::with_policy(allowed), &[url])[0]["value"]["text"], "inner");
}

#[test]
fn cloud_metadata_is_never_reachable() {
    let hosts = json!(["169.254.169.254", "100.100.100.200", "168.63.129.16"]);
    let project = Project::with_policy(json!({ "http": { "domains": hosts, "private": hosts } }));
    let urls: Vec<String> =
        hosts.as_array().unwrap().iter().map(|host| format!("http://{}/", host.as_str().unwrap())).collect();
    for (url, outcome) in urls.iter().zip(outcomes(&project, &urls)) {
        assert_eq!(outcome["code"], "call.denied", "{url}: {outcome}");
        assert!(outcome["message"].as_str().unwrap().ends_with("is a private address"), "{url}: {outcome}");
    }
}
