use super::{facts, function, policy, rule};
use crate::{
    CountError, DayCounts, DayFile, DayMemory, Facts, FunctionPolicy, Kind, Period, Policy, Rate, RateLimit, Rule,
    RunCounts, Settings, Taken, Wanted,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A day counter that must not be used.
struct NoDay;

impl DayCounts for NoDay {
    fn take(&self, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        panic!("asked for {wanted:?}");
    }
}

#[test]
fn run_limits_are_per_run_and_shared_by_the_functions_of_a_rule() {
    let policy = policy(vec![Rule { max_per_run: Some(2), ..rule("github.*") }]);
    let [create, delete] =
        ["github.createIssue", "github.deleteRepo"].map(|label| policy.function(&facts(label, Kind::Handler)));
    let run = RunCounts::default();
    assert_eq!(create.count(&run, &NoDay), Ok(()));
    assert_eq!(delete.count(&run, &NoDay), Ok(()));
    let refusal = create.count(&run, &NoDay).unwrap_err();
    assert_eq!(refusal.message, "github.createIssue: call limit reached for this run");
    assert!(refusal.operator.contains("$.policy.functions[\"github.*\"].maxPerRun is 2"), "{refusal:?}");
    assert_eq!(create.count(&RunCounts::default(), &NoDay), Ok(()));
}

#[test]
fn day_limits_span_runs_and_a_refused_call_is_not_counted_in_the_run() {
    let limited = function(vec![Rule { max_per_run: Some(2), max_per_day: Some(1), ..rule("a.b") }], "a.b");
    let (day, run) = (DayMemory::default(), RunCounts::default());
    assert_eq!(limited.count(&run, &day), Ok(()));
    for _ in 0..3 {
        assert_eq!(limited.count(&run, &day).unwrap_err().message, "a.b: call limit reached for today");
    }
    assert_eq!(limited.count(&RunCounts::default(), &day).unwrap_err().message, "a.b: call limit reached for today");
    assert_eq!(limited.count(&run, &DayMemory::default()), Ok(()));
    assert!(limited.count(&run, &DayMemory::default()).unwrap_err().message.ends_with("for this run"));
}

#[test]
fn a_slow_day_counter_does_not_block_other_calls_of_the_run() {
    /// A slow day counter, during which the run makes another call.
    struct Slow<'a>(&'a FunctionPolicy, &'a RunCounts);
    impl DayCounts for Slow<'_> {
        fn take(&self, _wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
            assert_eq!(self.0.count(self.1, &NoDay), Ok(()));
            Ok(Taken::Counted)
        }
    }
    let rules = vec![Rule { max_per_day: Some(1), ..rule("a.b") }, Rule { max_per_run: Some(1), ..rule("a.c") }];
    let policy = policy(rules);
    let [daily, other] = ["a.b", "a.c"].map(|label| policy.function(&facts(label, Kind::Handler)));
    let run = RunCounts::default();
    assert_eq!(daily.count(&run, &Slow(&other, &run)), Ok(()));
}

#[test]
fn every_rule_counts_and_a_full_one_refuses() {
    let rules = vec![Rule { max_per_day: Some(9), ..rule("a.*") }, Rule { max_per_day: Some(1), ..rule("a.b") }];
    let policy = policy(rules);
    let [b, c] = ["a.b", "a.c"].map(|label| policy.function(&facts(label, Kind::Handler)));
    let (day, run) = (DayMemory::default(), RunCounts::default());
    assert_eq!(b.count(&run, &day), Ok(()));
    (0..5).for_each(|_| assert!(b.count(&run, &day).is_err()));
    assert_eq!((0..20).filter(|_| c.count(&run, &day).is_ok()).count(), 8);
}

#[test]
fn an_unreadable_day_counter_refuses_and_only_the_operator_sees_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.json");
    std::fs::write(&path, "rubbish").unwrap();
    let limited = function(vec![Rule { max_per_day: Some(5), ..rule("a.b") }], "a.b");
    let refusal = limited.count(&RunCounts::default(), &DayFile::new(&path)).unwrap_err();
    assert_eq!(refusal.message, "a.b cannot be called now: its calls cannot be counted");
    assert!(refusal.operator.contains(&path.display().to_string()), "{refusal:?}");
    assert_eq!(function(vec![], "a.b").count(&RunCounts::default(), &DayFile::new(&path)), Ok(()));
}

#[test]
fn a_caller_needs_the_scopes_of_the_definition_and_of_every_rule() {
    let policy = policy(vec![
        Rule { scopes: vec!["triage".into()], ..rule("github.*") },
        Rule { scopes: vec!["admin".into(), "triage".into()], ..rule("github.deleteRepo") },
    ]);
    let declared = ["repo".to_owned()];
    let delete = policy.function(&Facts { scopes: &declared, ..facts("github.deleteRepo", Kind::Handler) });
    let caller = |scopes: &[&str]| scopes.iter().map(|scope| (*scope).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(delete.check_scopes(&caller(&["triage", "admin", "repo", "more"])), Ok(()));
    for (scopes, missing) in [
        (caller(&["triage", "admin"]), "`repo` by the definition of github.deleteRepo"),
        (caller(&["repo", "admin"]), "`triage` by $.policy.functions[\"github.*\"].scopes"),
        (caller(&["repo", "triage"]), "`admin` by $.policy.functions[\"github.deleteRepo\"].scopes"),
        (caller(&[]), "`repo`"),
        (caller(&["Repo", "triage", "admin"]), "`repo`"),
    ] {
        let refusal = delete.check_scopes(&scopes).unwrap_err();
        assert_eq!(refusal.message, crate::not_callable("github.deleteRepo"));
        assert!(refusal.operator.contains(missing), "{refusal:?}");
    }
    assert_eq!(policy.function(&facts("slack.post", Kind::Handler)).check_scopes(&caller(&[])), Ok(()));
}

#[test]
fn rate_limits_of_function_capability_and_space_all_apply() {
    let rate = |requests| Some(Rate { requests, period: Period::Hour, wait: None });
    let policy = Policy::new(Settings {
        functions: vec![
            Rule { rate_limit: rate(4), ..rule("github.*") },
            Rule { rate_limit: rate(1), ..rule("github.deleteRepo") },
        ],
        rate_limit: rate(6),
        ..Settings::default()
    });
    let declared = Some(RateLimit { requests: 2, period: Period::Hour });
    let facts = |label| Facts {
        rate_limit: if label == "github.createIssue" { declared } else { None },
        ..super::facts(label, Kind::Handler)
    };
    let now = Instant::now();
    // Linked anew each time, as in run after run.
    let passing = |label| (0..20).filter(|_| policy.function(&facts(label)).take(now, Duration::ZERO).is_ok()).count();
    assert_eq!(passing("github.deleteRepo"), 1, "its own");
    assert_eq!(passing("github.createIssue"), 2, "its definition's");
    assert_eq!(passing("github.list"), 1, "what is left of the capability's four");
    assert_eq!(passing("slack.post"), 2, "what is left of the space's six");
    let refused = policy.function(&facts("github.deleteRepo")).take(now, Duration::ZERO).unwrap_err();
    for place in ["[\"github.*\"].rateLimit", "[\"github.deleteRepo\"].rateLimit", "`policy.rateLimit` of the space"] {
        assert!(refused.operator.contains(place), "{place}: {}", refused.operator);
    }
    assert_eq!(refused.message(), "Rate limit exceeded. Try again in 3600 seconds.");
    assert_eq!(function(vec![], "a.b").take(now, Duration::ZERO), Ok(()));
}
