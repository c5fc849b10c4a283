use super::{deciding, matching, rule, with_argument};
use crate::{
    ApprovalSettings, Decision, DomainPattern, FileSettings, NetworkSettings, Period, Preset, Rate, Rule, Settings,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// Every member set, and none of them as `number` sets it elsewhere.
fn full(number: u64) -> Settings {
    let is_odd = number % 2 == 1;
    let domains = |text: &str| Some(vec![DomainPattern::parse(&format!("{text}{number}.com")).unwrap()]);
    Settings {
        preset: Some(if is_odd { Preset::Standard } else { Preset::Permissive }),
        fs: FileSettings {
            read: Some(is_odd),
            write: Some(is_odd),
            max_file_bytes: Some(number),
            max_total_bytes: Some(number),
        },
        http: NetworkSettings {
            enabled: Some(is_odd),
            domains: domains("a"),
            blocked: domains("b"),
            private: domains("c"),
            methods: Some(vec![format!("M{number}")]),
            max_response_bytes: Some(number),
            max_request_bytes: Some(number),
            timeout: Some(Duration::from_secs(number)),
        },
        functions: Vec::new(),
        rate_limit: Some(Rate { requests: number, period: Period::Day, wait: None }),
        approvals: ApprovalSettings {
            expires: Some(Duration::from_secs(number)),
            counts_time: Some(is_odd),
            max_pending: Some(number as u32),
        },
        only_tightens: false,
    }
}

/// One member each, taken from full settings.
const MEMBERS: &[fn(&mut Settings, &Settings)] = &[
    |to, from| to.preset = from.preset,
    |to, from| to.fs.read = from.fs.read,
    |to, from| to.fs.write = from.fs.write,
    |to, from| to.fs.max_file_bytes = from.fs.max_file_bytes,
    |to, from| to.fs.max_total_bytes = from.fs.max_total_bytes,
    |to, from| to.http.enabled = from.http.enabled,
    |to, from| to.http.domains = from.http.domains.clone(),
    |to, from| to.http.blocked = from.http.blocked.clone(),
    |to, from| to.http.private = from.http.private.clone(),
    |to, from| to.http.methods = from.http.methods.clone(),
    |to, from| to.http.max_response_bytes = from.http.max_response_bytes,
    |to, from| to.http.max_request_bytes = from.http.max_request_bytes,
    |to, from| to.http.timeout = from.http.timeout,
    |to, from| to.rate_limit = from.rate_limit,
    |to, from| to.approvals.expires = from.approvals.expires,
    |to, from| to.approvals.counts_time = from.approvals.counts_time,
    |to, from| to.approvals.max_pending = from.approvals.max_pending,
];

#[test]
fn settings_merge_member_by_member() {
    let (base, own) = (full(2), full(3));
    for (index, set) in MEMBERS.iter().enumerate() {
        let mut one = Settings::default();
        set(&mut one, &own);
        assert_ne!(one, Settings::default(), "member {index}");
        let mut expected = base.clone();
        set(&mut expected, &own);
        assert_ne!(expected, base, "member {index}");
        assert_eq!(one.over(&base), expected, "member {index}");
        assert_eq!(base.over(&one), base, "member {index}");
    }
    assert_eq!(own.over(&base), own);
    assert_eq!(Settings::default().over(&base), base);
}

#[test]
fn lists_are_replaced_and_rules_are_added() {
    let list = |text: &str| Some(vec![DomainPattern::parse(text).unwrap()]);
    let mut base = Settings { functions: vec![deciding("a.b", Decision::Deny)], ..Settings::default() };
    base.http.domains = list("a.com");
    let mut own = Settings { functions: vec![rule("a.*")], ..Settings::default() };
    own.http.domains = Some(Vec::new());
    let merged = own.over(&base);
    assert_eq!(merged.http.domains, Some(Vec::new()), "an empty list is one");
    assert_eq!(merged.functions, [deciding("a.b", Decision::Deny), rule("a.*")]);
}

#[test]
fn a_digest_covers_every_member_and_no_location() {
    let (empty, own) = (Settings::default(), full(3));
    // Journals keep digests, so they are the same in every version.
    assert_eq!(empty.digest(), "96ee900498bbda33f89615fec0590a2d9206654a9cd575fa65b4f22e2d27427d");
    assert_eq!(own.digest(), full(3).digest());
    for (index, set) in MEMBERS.iter().enumerate() {
        let mut one = Settings::default();
        set(&mut one, &own);
        assert_ne!(one.digest(), empty.digest(), "member {index}");
    }
    assert_ne!(Settings { only_tightens: true, ..Settings::default() }.digest(), empty.digest());
    let with = |rule: Rule| Settings { functions: vec![rule], ..Settings::default() }.digest();
    let moved = Rule { place: "elsewhere".to_owned(), ..deciding("a.b", Decision::Deny) };
    assert_eq!(with(moved), with(deciding("a.b", Decision::Deny)));
    let rules = [
        rule("a.b"),
        rule("a.c"),
        deciding("a.b", Decision::Deny),
        with_argument("a.b", "x", matching("y")),
        with_argument("a.b", "x", matching("z")),
        with_argument("a.b", "x[]", matching("y")),
        Rule { timeout: Some(Duration::from_secs(1)), ..rule("a.b") },
        Rule { layer: 1, ..rule("a.b") },
    ];
    let digests: BTreeSet<String> = rules.iter().cloned().map(with).collect();
    assert_eq!(digests.len(), rules.len());
}
