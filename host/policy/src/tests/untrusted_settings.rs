//! Settings of untrusted files, which may only tighten.

use super::{deciding, facts, rule};
use crate::{ApprovalSettings, Decision, Facts, FileSettings, Kind, Middleware, Policy, Preset, Rule, Settings};
use std::time::Duration;

fn both(settings: Settings) -> (Policy, Policy) {
    let unaccepted = Settings { only_tightens: true, ..settings.clone() };
    (Policy::new(settings), Policy::new(unaccepted))
}

#[test]
fn a_limit_is_lowered_and_never_raised() {
    let files =
        |size| FileSettings { max_file_bytes: Some(size), max_total_bytes: Some(size), ..FileSettings::default() };
    let approvals = |seconds| ApprovalSettings { expires: Some(Duration::from_secs(seconds)), ..Default::default() };
    let raised = Settings {
        preset: Some(Preset::Permissive),
        fs: files(1 << 40),
        approvals: approvals(86_400),
        ..Settings::default()
    };
    let usual = Policy::new(Settings::default());
    let (accepted, unaccepted) = both(raised.clone());
    assert_eq!((accepted.files().max_file_bytes, accepted.approvals().expires.as_secs()), (1 << 40, 86_400));
    assert!(accepted.limits().is_some() && accepted.network().enabled);
    assert_eq!((unaccepted.files(), unaccepted.approvals()), (usual.files(), usual.approvals()));
    assert!(unaccepted.limits().is_none() && !unaccepted.network().enabled);
    let keys =
        ["`policy.preset`", "`policy.fs.maxFileBytes`", "`policy.fs.maxTotalBytes`", "`policy.approvals.expires`"];
    assert_eq!(raised.loosening(), keys);
    let lowered =
        Settings { preset: Some(Preset::Restrictive), fs: files(10), approvals: approvals(5), ..Settings::default() };
    let (accepted, unaccepted) = both(lowered.clone());
    assert_eq!((unaccepted.files(), unaccepted.approvals()), (accepted.files(), accepted.approvals()));
    assert_eq!(unaccepted.limits(), accepted.limits());
    assert_eq!(lowered.loosening(), [""; 0]);
}

#[test]
fn rules_may_deny_or_ask_but_not_allow_what_the_definition_wants_approved() {
    for (ruled, declared, expected) in [
        (Decision::Allow, Some(true), Decision::Approve),
        (Decision::Allow, Some(false), Decision::Allow),
        (Decision::Allow, None, Decision::Allow),
        (Decision::Approve, None, Decision::Approve),
        (Decision::Deny, Some(true), Decision::Deny),
    ] {
        let (accepted, unaccepted) =
            both(Settings { functions: vec![deciding("crm.*", ruled)], ..Settings::default() });
        let facts = Facts { requires_approval: declared, ..facts("crm.pay", Kind::Handler) };
        assert_eq!(accepted.function(&facts).decision().decision, ruled);
        let decided = unaccepted.function(&facts);
        assert_eq!(decided.decision().decision, expected, "{ruled} {declared:?}");
        assert_eq!(decided.ignored_rule().is_some(), ruled != expected, "{ruled} {declared:?}");
        assert_eq!(accepted.function(&facts).ignored_rule(), None);
    }
}

#[test]
fn calls_are_neither_retried_nor_cached() {
    let repeated = Rule {
        idempotent: Some(true),
        cache: Some(Duration::from_secs(60)),
        retries: Some(5),
        concurrency: Some(1),
        ..rule("*")
    };
    let (accepted, unaccepted) = both(Settings { functions: vec![repeated], ..Settings::default() });
    assert_eq!(accepted.function(&facts("a.b", Kind::Handler)).middleware().retries, 5);
    let expected = Middleware { concurrency: Some(1), ..Middleware::default() };
    assert_eq!(unaccepted.function(&facts("a.b", Kind::Handler)).middleware(), expected);
}
