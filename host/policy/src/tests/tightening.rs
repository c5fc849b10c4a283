use super::{deciding, facts, labelled, rule};
use crate::{
    Decision, DomainPattern, FileSettings, Kind, Loosens, NetworkSettings, Pattern, Period, Policy, Preset, Rate, Rule,
    Settings,
};
use proptest::prelude::*;
use std::time::{Duration, Instant};

const PATTERNS: &[&str] =
    &["*", "github.*", "git*.*", "*.delete*", "github.delete*", "github.deleteRepo", "slack.post"];
const LABELS: &[&str] = &["github.deleteRepo", "github.createIssue", "slack.post", "gitlab.deleteRepo"];
const HOSTS: &[&str] = &["*", "*.example.com", "api.example.com", "*.api.example.com", "example.org", "10.0.0.1"];
const ASKED: &[&str] = &["api.example.com", "v1.api.example.com", "example.org", "10.0.0.1", "elsewhere.net"];
const METHODS: &[&str] = &["GET", "HEAD", "POST"];

fn hosts(texts: Vec<&str>) -> Vec<DomainPattern> {
    texts.into_iter().map(|text| DomainPattern::parse(text).unwrap()).collect()
}

fn some_preset() -> impl Strategy<Value = Option<Preset>> {
    prop::option::of(prop_oneof![Just(Preset::Restrictive), Just(Preset::Standard), Just(Preset::Permissive)])
}

fn some_hosts() -> impl Strategy<Value = Option<Vec<DomainPattern>>> {
    prop::option::of(prop::sample::subsequence(HOSTS, 0..=3).prop_map(hosts))
}

fn some_rules() -> impl Strategy<Value = Vec<Rule>> {
    let decision = prop_oneof![Just(Decision::Allow), Just(Decision::Approve), Just(Decision::Deny)];
    let one = (prop::sample::select(PATTERNS), prop::option::of(decision), prop::option::of(1_u64..4));
    let one = one.prop_map(|(pattern, decision, seconds)| Rule {
        decision,
        timeout: seconds.map(Duration::from_secs),
        ..rule(pattern)
    });
    prop::collection::vec(one, 0..4)
}

fn some_network() -> impl Strategy<Value = NetworkSettings> {
    let methods = prop::option::of(prop::sample::subsequence(METHODS, 0..=3));
    let size = || prop::option::of(1_u64..4);
    (prop::option::of(any::<bool>()), some_hosts(), some_hosts(), some_hosts(), methods, size()).prop_map(
        |(enabled, domains, blocked, private, methods, bytes)| NetworkSettings {
            enabled,
            domains,
            blocked,
            private,
            methods: methods.map(|methods| methods.into_iter().map(str::to_owned).collect()),
            max_response_bytes: bytes,
            ..NetworkSettings::default()
        },
    )
}

fn some_settings() -> impl Strategy<Value = Settings> {
    let flag = || prop::option::of(any::<bool>());
    let files = (flag(), flag(), prop::option::of(1_u64..4));
    let all = (some_preset(), files, some_network(), some_rules(), any::<bool>());
    all.prop_map(|(preset, (read, write, bytes), http, functions, only_tightens)| Settings {
        preset,
        fs: FileSettings { read, write, max_file_bytes: bytes, max_total_bytes: None },
        http,
        functions,
        only_tightens,
        ..Settings::default()
    })
}

/// Asserts that `part` allows nothing that `whole` does not.
fn check_within(part: &Policy, whole: &Policy) -> Result<(), TestCaseError> {
    for label in LABELS {
        for kind in [Kind::Handler, Kind::Standard, Kind::ServerTool { read_only: true }] {
            for requires_approval in [None, Some(false), Some(true)] {
                let facts = crate::Facts { requires_approval, ..facts(label, kind) };
                let (part, whole) = (part.function(&facts), whole.function(&facts));
                prop_assert!(part.decision().decision >= whole.decision().decision, "{label}");
                if let Some(most) = whole.middleware().timeout {
                    prop_assert!(part.middleware().timeout.is_some_and(|timeout| timeout <= most), "{label}");
                }
            }
        }
    }
    for host in ASKED {
        for method in METHODS {
            if part.network().check(method, host).is_ok() {
                prop_assert!(whole.network().check(method, host).is_ok(), "{method} {host}");
            }
        }
        prop_assert!(whole.network().allows_private(host) || !part.network().allows_private(host), "{host}");
    }
    prop_assert!(part.network().max_response_bytes <= whole.network().max_response_bytes);
    let (part, whole) = (part.files(), whole.files());
    prop_assert!((whole.read || !part.read) && (whole.write || !part.write));
    prop_assert!(part.max_file_bytes <= whole.max_file_bytes && part.max_total_bytes <= whole.max_total_bytes);
    Ok(())
}

proptest! {
    #[test]
    fn what_a_part_allows_the_whole_allows(whole in some_settings(), part in some_settings()) {
        if let Ok(both) = whole.tightened_by(&part, "part") {
            check_within(&Policy::new(both), &Policy::new(whole))?;
        }
    }

    #[test]
    fn a_part_of_a_part_allows_no_more_than_the_part(
        whole in some_settings(), one in some_rules(), two in some_rules()
    ) {
        let with = |functions: Vec<Rule>| Settings { functions, ..Settings::default() };
        if let Ok(one) = whole.tightened_by(&with(one), "one")
            && let Ok(two) = one.tightened_by(&with(two), "two")
        {
            check_within(&Policy::new(two), &Policy::new(one))?;
        }
    }

    #[test]
    fn settings_of_the_whole_repeated_loosen_nothing(whole in some_settings()) {
        let repeated = Settings { functions: Vec::new(), ..whole.clone() };
        // Settings that an unaccepted file cannot have are refused when repeated.
        if !whole.only_tightens {
            // Without hosts or a switch, a preset's default may be less than what is written.
            let repeated = Settings { http: NetworkSettings::default(), ..repeated };
            prop_assert!(whole.tightened_by(&repeated, "part").is_ok());
        }
    }
}

fn refused(whole: &Settings, part: &Settings) -> String {
    let Loosens { pointer, .. } = whole.tightened_by(part, "part").unwrap_err();
    pointer
}

#[test]
fn a_refusal_names_the_setting() {
    let whole = Settings {
        preset: Some(Preset::Standard),
        fs: FileSettings { write: Some(false), max_file_bytes: Some(10), ..FileSettings::default() },
        http: NetworkSettings {
            domains: Some(hosts(vec!["*.example.com"])),
            timeout: Some(Duration::from_secs(1)),
            ..NetworkSettings::default()
        },
        functions: vec![deciding("github.*", Decision::Deny), deciding("slack.post", Decision::Approve)],
        ..Settings::default()
    };
    let none = Settings::default();
    let files = |fs: FileSettings| Settings { fs, ..none.clone() };
    let http = |http: NetworkSettings| Settings { http, ..none.clone() };
    let one = |rule: Rule| Settings { functions: vec![rule], ..none.clone() };
    assert_eq!(refused(&whole, &Settings { preset: Some(Preset::Permissive), ..none.clone() }), "/preset");
    assert_eq!(refused(&whole, &files(FileSettings { write: Some(true), ..FileSettings::default() })), "/fs/write");
    let large = FileSettings { max_file_bytes: Some(11), ..FileSettings::default() };
    assert_eq!(refused(&whole, &files(large)), "/fs/maxFileBytes");
    let more = NetworkSettings { domains: Some(hosts(vec!["a.example.com", "b.org"])), ..NetworkSettings::default() };
    assert_eq!(refused(&whole, &http(more)), "/http/domains/1");
    let methods = NetworkSettings { methods: Some(vec!["POST".into()]), ..NetworkSettings::default() };
    assert_eq!(refused(&whole, &http(methods)), "/http/methods/0");
    let slow = NetworkSettings { timeout: Some(Duration::from_secs(2)), ..NetworkSettings::default() };
    assert_eq!(refused(&whole, &http(slow)), "/http/timeout");
    assert_eq!(refused(&whole, &one(deciding("github.list", Decision::Allow))), "/functions/github.list");
    assert_eq!(refused(&whole, &one(deciding("github.*", Decision::Approve))), "/functions/github.*");
    assert_eq!(refused(&whole, &one(deciding("slack.post", Decision::Allow))), "/functions/slack.post");
    let repeated = Rule { idempotent: Some(true), ..rule("capabilities:a/b#c") };
    assert_eq!(refused(&whole, &one(repeated)), "/functions/capabilities:a~1b#c/idempotent");
    let wide = Rule { concurrency: Some(1), ..rule("x.y") };
    assert_eq!(refused(&whole, &one(wide)), "/functions/x.y/concurrency");
    let counted = Settings {
        approvals: crate::ApprovalSettings { counts_time: Some(true), ..crate::ApprovalSettings::default() },
        ..none.clone()
    };
    let uncounted = Settings {
        approvals: crate::ApprovalSettings { counts_time: Some(false), ..crate::ApprovalSettings::default() },
        ..none.clone()
    };
    assert_eq!(refused(&counted, &uncounted), "/approvals/countsTime");
    assert!(whole.tightened_by(&none, "part").is_ok());
}

#[test]
fn a_part_may_deny_all_but_some() {
    let whole = Settings { functions: vec![deciding("github.*", Decision::Approve)], ..Settings::default() };
    let functions = vec![deciding("*", Decision::Deny), deciding("slack.*", Decision::Allow)];
    let part = whole.tightened_by(&Settings { functions, ..Settings::default() }, "part").unwrap();
    let part = Policy::new(part);
    let decision = |label: &str| part.function(&facts(label, Kind::Handler)).decision().decision;
    assert_eq!(decision("slack.post"), Decision::Allow);
    assert_eq!(decision("github.list"), Decision::Deny);
    assert_eq!(decision("crm.find"), Decision::Deny);
    assert!(part.unused_rules(&[labelled("slack.post"), labelled("github.list")], &[]).is_empty());
}

#[test]
fn a_more_specific_rule_of_a_part_does_not_override_the_whole() {
    // `*.delete*` does not include `github.*`, so the text alone does not show that it loosens.
    let whole = Settings { functions: vec![deciding("*.delete*", Decision::Deny)], ..Settings::default() };
    let functions = vec![deciding("githubEnterprise.*", Decision::Allow)];
    let part = whole.tightened_by(&Settings { functions, ..Settings::default() }, "part").unwrap();
    let decided = Policy::new(part).function(&facts("githubEnterprise.deleteRepo", Kind::Handler)).decision().decision;
    assert_eq!(decided, Decision::Deny);
}

#[test]
fn parts_share_the_rate_limits_of_the_whole_and_have_their_own() {
    let rate = |requests| Some(Rate { requests, period: Period::Hour, wait: None });
    let whole = Settings { rate_limit: rate(3), ..Settings::default() };
    let part =
        |place: &str| whole.tightened_by(&Settings { rate_limit: rate(2), ..Settings::default() }, place).unwrap();
    let policy = Policy::new(whole.clone());
    let (one, two) = (Policy::within(part("one"), &policy), Policy::within(part("two"), &policy));
    let take = |policy: &Policy| {
        policy.function(&facts("slack.post", Kind::Handler)).take(Instant::now(), Duration::ZERO).is_ok()
    };
    assert!(take(&one) && take(&one));
    assert!(!take(&one), "its own limit");
    assert!(take(&two));
    assert!(!take(&two), "the limit of the whole");
    assert!(!take(&policy), "the limit of the whole, by the calls of its parts");
}

#[test]
fn rules_of_parts_are_counted_apart() {
    let limited = Rule { max_per_day: Some(1), ..rule("slack.*") };
    let part = Settings { functions: vec![limited], ..Settings::default() };
    let places: Vec<String> = ["one", "two"]
        .into_iter()
        .flat_map(|place| Settings::default().tightened_by(&part, place).unwrap().functions)
        .map(|rule| rule.place)
        .collect();
    assert_eq!(places, ["one: $.policy.functions[\"slack.*\"]", "two: $.policy.functions[\"slack.*\"]"]);
}

#[test]
fn a_stricter_preset_lowers_what_the_part_leaves_open() {
    let whole = Settings {
        fs: FileSettings { write: Some(true), ..FileSettings::default() },
        http: NetworkSettings { domains: Some(hosts(vec!["example.org"])), ..NetworkSettings::default() },
        ..Settings::default()
    };
    let strict = Settings { preset: Some(Preset::Restrictive), ..Settings::default() };
    let part = Policy::new(whole.tightened_by(&strict, "part").unwrap());
    assert!(part.files().read && !part.files().write && !part.network().enabled);
    let open = Settings {
        http: NetworkSettings { enabled: Some(true), ..NetworkSettings::default() },
        fs: FileSettings { write: Some(true), ..FileSettings::default() },
        ..strict
    };
    let part = Policy::new(whole.tightened_by(&open, "part").unwrap());
    assert!(part.files().write && part.network().check("GET", "example.org").is_ok());
}

#[test]
fn patterns_include_only_what_they_surely_match() {
    let includes = |one: &str, other: &str| Pattern::parse(one).unwrap().includes(&Pattern::parse(other).unwrap());
    for (one, other) in [("*", "a.b"), ("a.*", "a"), ("a", "a.*"), ("git*.*", "github.list*"), ("a.*b", "a.x*b")] {
        assert!(includes(one, other), "{one} {other}");
    }
    for (one, other) in [("a.b", "a.*"), ("a.*", "*"), ("a.b*", "a.*b"), ("a.*", "x:a/a#b"), ("x:a/a", "a.b")] {
        assert!(!includes(one, other), "{one} {other}");
    }
}
