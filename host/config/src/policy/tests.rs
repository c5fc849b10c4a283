use super::super::from_value;
use agent_spaces_policy::{ApprovalSettings, Decision, FileSettings, Period, Policy, Preset, Rate, Rule, Settings};
use serde_json::{Value, json};
use std::time::Duration;

fn read(policy: Value) -> Result<Settings, String> {
    from_value("f", json!({ "policy": policy })).map(|config| config.policy).map_err(|error| error.to_string())
}

fn message(policy: Value) -> String {
    read(policy).unwrap_err()
}

fn rule(rule: Value) -> Result<Rule, String> {
    read(json!({ "functions": { "a.b": rule } })).map(|policy| policy.functions[0].clone())
}

fn shown<T: ToString>(items: Option<Vec<T>>) -> Option<Vec<String>> {
    items.map(|items| items.iter().map(ToString::to_string).collect())
}

#[test]
fn a_policy_is_a_preset_by_name_or_settings_with_or_without_one() {
    for (name, preset) in
        [("restrictive", Preset::Restrictive), ("standard", Preset::Standard), ("permissive", Preset::Permissive)]
    {
        let expected = Settings { preset: Some(preset), ..Settings::default() };
        assert_eq!(read(json!(name)), Ok(expected.clone()));
        assert_eq!(read(json!({ "preset": name })), Ok(expected));
    }
    assert_eq!(read(json!({})), Ok(Settings::default()));
}

#[test]
fn every_setting_of_a_section_is_read() {
    let policy = read(json!({
        "fs": { "read": true, "write": false, "maxFileBytes": "1MB", "maxTotalBytes": "100MB" },
        "http": {
            "enabled": true, "domains": ["API.example.com", "*.acme.com"], "blocked": ["evil.acme.com"],
            "methods": ["GET", "POST"], "maxResponseBytes": "5MB", "maxRequestBytes": "1MB", "timeout": "10s"
        },
        "rateLimit": { "requests": "1k", "period": "hour" },
        "approvals": { "expires": "10m", "countsTime": true, "maxPending": 5 }
    }))
    .unwrap();
    let fs = FileSettings {
        read: Some(true),
        write: Some(false),
        max_file_bytes: Some(1_000_000),
        max_total_bytes: Some(100_000_000),
    };
    assert_eq!(policy.fs, fs);
    let http = policy.http;
    assert_eq!(shown(http.domains), Some(vec!["api.example.com".to_owned(), "*.acme.com".to_owned()]));
    assert_eq!(shown(http.blocked), Some(vec!["evil.acme.com".to_owned()]));
    assert_eq!((http.enabled, http.methods), (Some(true), Some(vec!["GET".to_owned(), "POST".to_owned()])));
    assert_eq!((http.max_response_bytes, http.max_request_bytes), (Some(5_000_000), Some(1_000_000)));
    assert_eq!(http.timeout, Some(Duration::from_secs(10)));
    assert_eq!(policy.rate_limit, Some(Rate { requests: 1000, period: Period::Hour, wait: None }));
    let approvals =
        ApprovalSettings { expires: Some(Duration::from_secs(600)), counts_time: Some(true), max_pending: Some(5) };
    assert_eq!(policy.approvals, approvals);
}

#[test]
fn a_rule_is_a_decision_or_settings_and_has_its_path() {
    let policy = read(json!({ "functions": {
        "github.*": "approve",
        "github.createIssue": {
            "decision": "allow", "arguments": { "repo": { "matches": "acme/*" }, "to[]": { "not": ["a", "b"], "optional": true } },
            "maxPerRun": 5, "maxPerDay": 50, "scopes": ["triage"],
            "rateLimit": { "requests": 10, "period": "minute", "wait": "5s" }, "timeout": "20s", "concurrency": 4
        },
        "search.query": { "idempotent": true, "cache": "5m", "retries": 2 }
    } }))
    .unwrap();
    let [all, create, search] = &policy.functions[..] else { panic!("{:?}", policy.functions) };
    assert_eq!((all.decision, all.place.as_str()), (Some(Decision::Approve), "$.policy.functions[\"github.*\"]"));
    let arguments: Vec<_> = create.arguments.iter().map(|(path, constraint)| format!("{path} {constraint}")).collect();
    assert_eq!(arguments, ["repo must match `acme/*`", "to[] must not match `a` or `b`, if present"]);
    assert_eq!((create.decision, create.max_per_run, create.max_per_day), (Some(Decision::Allow), Some(5), Some(50)));
    assert_eq!((&create.scopes[..], create.concurrency), (&["triage".to_owned()][..], Some(4)));
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(create.rate_limit, Some(Rate { requests: 10, period: Period::Minute, wait: seconds(5) }));
    assert_eq!((create.timeout, search.cache, search.retries), (seconds(20), seconds(300), Some(2)));
    assert_eq!((search.idempotent, search.decision), (Some(true), None));
}

#[test]
fn requires_approval_is_another_spelling_of_the_decision() {
    for (written, decision) in [
        (json!({ "requiresApproval": true }), Decision::Approve),
        (json!({ "requiresApproval": false }), Decision::Allow),
        (json!({ "requiresApproval": true, "decision": "approve" }), Decision::Approve),
        (json!({ "requiresApproval": false, "decision": "allow" }), Decision::Allow),
    ] {
        assert_eq!(rule(written.clone()).unwrap().decision, Some(decision), "{written}");
    }
    assert_eq!(
        rule(json!({ "requiresApproval": true, "decision": "deny" })).unwrap_err(),
        "f: $.policy.functions[\"a.b\"].requiresApproval: `requiresApproval` means approve, but `decision` is \
         deny; keep `decision`"
    );
}

#[test]
fn cache_and_retries_require_an_idempotent_function() {
    for (written, key) in [
        (json!({ "cache": "5m" }), "cache"),
        (json!({ "retries": 2 }), "retries"),
        (json!({ "retries": 2, "idempotent": false }), "retries"),
    ] {
        let message = rule(written).unwrap_err();
        assert_eq!(
            message,
            format!(
                "f: $.policy.functions[\"a.b\"].{key}: `{key}` is only for idempotent functions; add \
                 `\"idempotent\": true`, or leave `{key}` out"
            )
        );
    }
}

#[test]
fn errors_have_path_and_fix() {
    for (policy, expected) in [
        (json!("permisive"), "$.policy: unknown policy preset `permisive`; did you mean `permissive`?"),
        (
            json!(true),
            "$.policy: expected policy preset: one of `restrictive`, `standard`, `permissive`, found a boolean",
        ),
        (
            json!({ "preset": "standard", "function": {} }),
            "$.policy.function: unknown key `function`; did you mean `functions`?",
        ),
        (
            json!({ "fs": { "maxFileByte": 1 } }),
            "$.policy.fs.maxFileByte: unknown key `maxFileByte`; did you mean `maxFileBytes`?",
        ),
        (
            json!({ "http": { "methods": ["get"] } }),
            "$.policy.http.methods[0]: `get` is not an HTTP method; write it in capitals, such as `GET`",
        ),
        (
            json!({ "http": { "domains": ["a.com", "https://b.com/x"] } }),
            "$.policy.http.domains[1]: `https://b.com/x` is not a host: write a name such as `api.example.com`, `*.example.com` for its \
             subdomains, an IP address such as `203.0.113.7`, or `*`; without scheme, port or path",
        ),
        (
            json!({ "functions": { "git*": "deny" } }),
            "$.policy.functions[\"git*\"]: `git*`: not a function name: write `capability.function` with letters, digits, `_`, \
             `$`, and `*` for any characters, `*` alone for every function, or the function in full: \
             `namespace:package/interface#function`",
        ),
        (
            json!({ "functions": { "calc-js.add": "deny" } }),
            "$.policy.functions[\"calc-js.add\"]: `calc-js.add`: functions are named as scripts call them; did you mean `calcJs.add`?",
        ),
        (
            json!({ "functions": { "a.b": "alow" } }),
            "$.policy.functions[\"a.b\"]: unknown decision `alow`; did you mean `allow`?",
        ),
        (
            json!({ "functions": { "a.b": {} } }),
            "$.policy.functions[\"a.b\"]: the rule is empty; write \"allow\", \"approve\" or \"deny\", or leave it out",
        ),
        (
            json!({ "functions": { "a.b": { "arguments": { "x": { "matches": "a/../b" } } } } }),
            "$.policy.functions[\"a.b\"].arguments.x.matches: `a/../b`: pattern that no text can match: it contains a path segment of dots",
        ),
        (
            json!({ "functions": { "a.b": { "arguments": { "x": { "optional": true } } } } }),
            "$.policy.functions[\"a.b\"].arguments.x: empty constraint; write `matches`, `address`, `repository`, `path`, `not`, `oneOf`, `min` or \
             `max`",
        ),
        (
            json!({ "functions": { "a.b": { "arguments": { "x": { "min": 2, "max": 1.5 } } } } }),
            "$.policy.functions[\"a.b\"].arguments.x: `min` is greater than `max`; write the smaller one as `min`",
        ),
        (json!({ "rateLimit": { "requests": 1 } }), "$.policy.rateLimit: the key `period` is missing"),
        (
            json!({ "rateLimit": { "requests": 1, "period": "minutes" } }),
            "$.policy.rateLimit.period: unknown period `minutes`; did you mean `minute`?",
        ),
        (json!({ "approvals": { "maxPending": 21 } }), "$.policy.approvals.maxPending: the maximum is 20"),
        (
            json!({ "functions": { "a.b": { "retries": 11, "idempotent": true } } }),
            "$.policy.functions[\"a.b\"].retries: the maximum is 10",
        ),
    ] {
        assert_eq!(message(policy.clone()), format!("f: {expected}"), "{policy}");
    }
}

#[test]
fn rules_of_a_space_are_added_and_only_a_more_specific_one_loosens() {
    let config = from_value(
        "f",
        json!({
            "policy": { "functions": { "github.*": "deny", "slack.post": "approve" } },
            "spaces": { "triage": { "policy": { "functions": { "github.createIssue": "allow", "slack.post": "allow" } } } }
        }),
    )
    .unwrap();
    let policy = Policy::new(config.policy_of("triage"));
    let decision = |label| {
        let id = agent_spaces_policy::FunctionId::new("test:all/all@1.0.0", "one");
        let facts = agent_spaces_policy::Facts::new(&id, label, agent_spaces_policy::Kind::Handler);
        policy.function(&facts).decision().decision
    };
    assert_eq!(decision("github.createIssue"), Decision::Allow);
    assert_eq!(decision("github.deleteRepo"), Decision::Deny);
    assert_eq!(decision("slack.post"), Decision::Approve);
}
