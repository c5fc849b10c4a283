//! Property test: for random policies, callers and decisions, a provider runs if and only if every step passes.

use super::reference_model::{Caller, Function, Model, Outcome, Policy, Rule, Run, Says, Verdict, fits};
use super::rig::{Rig, ScriptedApprover, settings, settings_of_space};
use agent_spaces::CapabilityError;
use agent_spaces_approvals::{ChannelError, Decision, Lasts};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const FUNCTIONS: [Function; 8] = {
    const PLAIN: Function = Function {
        label: "crm.find",
        is_read_only: false,
        requires_approval: None,
        scope: None,
        per_period: None,
        has_schema: true,
    };
    [
        PLAIN,
        Function { label: "crm.remove", requires_approval: Some(true), ..PLAIN },
        Function { label: "crm.note", requires_approval: Some(false), ..PLAIN },
        Function { label: "crm.pay", scope: Some("money"), ..PLAIN },
        Function { label: "crm.ping", per_period: Some(2), ..PLAIN },
        Function { label: "github.listIssues", is_read_only: true, ..PLAIN },
        Function { label: "github.createIssue", ..PLAIN },
        Function { label: "post.send", has_schema: false, ..PLAIN },
    ]
};

const PATTERNS: [&str; 14] = [
    "*",
    "*.*",
    "crm.*",
    "c*m.*i*",
    "*.*e*",
    "crm.p*",
    "crm.find",
    "crm.remove",
    "crm.pay",
    "github.*",
    "*.createIssue",
    "github.createIssue",
    "post.*",
    "post.send",
];

const INTERFACES: [(&str, &str); 3] = [
    ("crm", "capabilities:crm/crm@1.0.0"),
    ("github", "capabilities:mcp-github/github@1.0.0"),
    ("post", "test:post/post@1.0.0"),
];

/// Action on a space.
#[derive(Clone, Debug)]
enum Step {
    /// One run of a script, or as many calls of the host.
    Calls {
        is_script: bool,
        caller: Caller,
        calls: Vec<(Function, Value)>,
    },
    Revoke(usize),
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![3 => Just(Verdict::Allow), 3 => Just(Verdict::Approve), 1 => Just(Verdict::Deny)]
}

/// Mostly absent, so that most calls get far.
fn rarely<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>> {
    option::weighted(0.25, strategy)
}

fn rule() -> impl Strategy<Value = Rule> {
    (
        select(&PATTERNS[..]),
        option::of(verdict()),
        rarely((select(&[10_i64, 100][..]), any::<bool>())),
        prop::bool::weighted(0.15),
        rarely(1..4_u64),
        rarely(1..6_u64),
        rarely(1..6_u64),
        rarely(select(&["a", "money"][..])),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(pattern, verdict, amount, is_acme, per_run, per_day, per_period, scope, is_kept)| Rule {
            pattern,
            verdict,
            amount,
            is_acme,
            per_run,
            per_day,
            per_period,
            scope,
            is_kept,
        })
}

fn policy() -> impl Strategy<Value = Policy> {
    let labels: Vec<&'static str> = FUNCTIONS.iter().map(|function| function.label).collect();
    (
        option::of(select(&["restrictive", "standard", "permissive"][..])),
        vec(rule(), 0..5),
        rarely(3..12_u64),
        subsequence(labels, 0..2),
        prop::bool::weighted(0.8),
    )
        .prop_map(|(preset, rules, per_period, approved, has_person)| Policy {
            preset,
            rules,
            per_period,
            approved: approved.into_iter().collect(),
            has_person,
        })
}

fn params(function: Function) -> impl Strategy<Value = Value> {
    let amounts = vec![json!(1), json!(1), json!(10), json!(10.5), json!(101), json!(5000)];
    const REPOS: [&str; 6] = ["acme/x", "acme/x", "acme/x", "acme/../x", "other/x", "acme/x/y"];
    let defaults = if function.has_schema { vec![1, 2] } else { vec![2] };
    (option::of(select(amounts)), option::of(select(&REPOS[..])), rarely(select(defaults))).prop_map(
        |(amount, repo, n)| {
            let mut params = Map::new();
            params.extend(amount.map(|amount| ("amount".to_owned(), amount)));
            params.extend(repo.map(|repo| ("repo".to_owned(), json!(repo))));
            params.extend(n.map(|n| ("n".to_owned(), json!(n))));
            Value::Object(params)
        },
    )
}

fn call() -> impl Strategy<Value = (Function, Value)> {
    select(&FUNCTIONS[..]).prop_flat_map(|function| (Just(function), params(function)))
}

fn caller() -> impl Strategy<Value = Caller> {
    let scopes = prop_oneof![
        3 => Just(BTreeSet::from(["a", "money"])),
        1 => subsequence(vec!["a", "money", "other"], 0..3).prop_map(|scopes| scopes.into_iter().collect()),
    ];
    (select(&[None, Some("ada"), Some("bob")][..]), scopes).prop_map(|(name, scopes)| Caller { name, scopes })
}

fn step() -> impl Strategy<Value = Step> {
    // Many calls come twice: only then is there an answer to give again.
    let twice = prop_oneof![2 => Just(1), 1 => Just(2)];
    let calls = vec((call(), twice), 1..6)
        .prop_map(|calls| calls.into_iter().flat_map(|(call, times)| vec![call; times]).collect::<Vec<_>>());
    let calls = (any::<bool>(), caller(), calls).prop_map(|(is_script, caller, calls)| Step::Calls {
        is_script,
        caller,
        calls,
    });
    prop_oneof![12 => calls, 1 => (0..INTERFACES.len()).prop_map(Step::Revoke)]
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        4 => Just(Says::Once),
        1 => Just(Says::ForRun),
        1 => Just(Says::ForArguments),
        2 => Just(Says::No),
        1 => Just(Says::Nothing),
        1 => Just(Says::Gone),
    ]
}

/// The rules of a policy as a configuration has them. Of two with one pattern the later is that of the space.
fn written(policy: &Policy) -> agent_spaces_policy::Settings {
    let (mut all, mut own) = (Map::new(), Map::new());
    for rule in &policy.rules {
        let mut object = Map::from_iter([("timeout".to_owned(), json!("1m"))]);
        let mut put = |key: &str, value: Option<Value>| object.extend(value.map(|value| (key.to_owned(), value)));
        put("decision", rule.verdict.map(|verdict| json!(format!("{verdict:?}").to_lowercase())));
        let mut arguments = Map::new();
        if let Some((most, is_optional)) = rule.amount {
            arguments.insert("amount".to_owned(), json!({ "max": most, "optional": is_optional }));
        }
        if rule.is_acme {
            arguments.insert("repo".to_owned(), json!({ "matches": "acme/*" }));
        }
        put("arguments", (!arguments.is_empty()).then_some(Value::Object(arguments)));
        put("maxPerRun", rule.per_run.map(Value::from));
        put("maxPerDay", rule.per_day.map(Value::from));
        // So long that no turn comes back while the test runs.
        put("rateLimit", rule.per_period.map(|requests| json!({ "requests": requests, "period": "day" })));
        put("scopes", rule.scope.map(|scope| json!([scope])));
        put("idempotent", rule.is_kept.then(|| json!(true)));
        put("cache", rule.is_kept.then(|| json!("1h")));
        let section = if all.contains_key(rule.pattern) { &mut own } else { &mut all };
        section.insert(rule.pattern.to_owned(), Value::Object(object));
    }
    let mut general = json!({ "functions": all });
    if let Some(preset) = policy.preset {
        general["preset"] = json!(preset);
    }
    if let Some(requests) = policy.per_period {
        general["rateLimit"] = json!({ "requests": requests, "period": "day" });
    }
    settings_of_space(json!({ "functions": own })).over(&settings(general))
}

fn decision(says: Says) -> Result<Decision, ChannelError> {
    let approve = |lasts| Ok(Decision::approve("ada").lasting(lasts));
    match says {
        Says::Once => approve(Lasts::Once),
        Says::ForRun => approve(Lasts::Run),
        Says::ForArguments => approve(Lasts::Arguments),
        Says::No => Ok(Decision::deny("ada", None)),
        Says::Nothing => Err(ChannelError::Expired),
        Says::Gone => Err(ChannelError::Nobody("gone".into())),
    }
}

/// Outcome of the space in terms of the model.
fn seen(outcome: &Result<Value, CapabilityError>, was_provided: bool) -> Option<Outcome> {
    let error = match outcome {
        Ok(_) if was_provided => return Some(Outcome::Provided),
        Ok(_) => return Some(Outcome::Kept),
        Err(_) if was_provided => return None,
        Err(error) => error,
    };
    let says = |text: &str| error.message.contains(text);
    match error.code.as_str() {
        "call.denied" if says("was revoked") => Some(Outcome::NotGranted),
        "call.denied" if says("no such function, or this caller may not call it") => Some(Outcome::Denied),
        "call.denied" if says("the policy does not allow") => Some(Outcome::BadArgument),
        "call.denied" if says("call limit reached") => Some(Outcome::TooOften),
        "call.invalid" => Some(Outcome::Invalid),
        "call.rate_limited" => Some(Outcome::TooFast),
        "call.approval_denied" => Some(Outcome::NotApproved),
        "call.approval_expired" => Some(Outcome::Expired),
        _ => None,
    }
}

async fn check(
    policy: Policy,
    says: Vec<Says>,
    steps: Vec<Step>,
    forgotten: Option<Outcome>,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    // Three rules of one pattern cannot be written.
    let mut policy = policy;
    let mut patterns: Vec<&str> = Vec::new();
    policy.rules.retain(|rule| {
        patterns.push(rule.pattern);
        patterns.iter().filter(|pattern| **pattern == rule.pattern).count() <= 2
    });
    let rig = Rig::new(written(&policy));
    let person = ScriptedApprover::new(says.iter().map(|says| decision(*says)));
    if policy.has_person {
        rig.space.approvals().ask(person.clone());
    }
    for label in &policy.approved {
        rig.space.approvals().approve(rig.space.identify(label).unwrap());
    }
    let mut model = Model::new(policy, says, forgotten);
    for step in steps {
        let (is_script, caller, calls) = match step {
            Step::Revoke(index) => {
                let (capability, interface) = INTERFACES[index];
                rig.space.grants().revoke(interface);
                model.revoke(capability);
                continue;
            }
            Step::Calls { is_script, caller, calls } => (is_script, caller, calls),
        };
        let scopes = caller.scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let name = caller.name.map(str::to_owned);
        let real_caller = agent_spaces::Caller { name, scopes, ..agent_spaces::Caller::default() };
        let before = rig.count();
        let listed: Vec<(&str, Value)> =
            calls.iter().map(|(function, params)| (function.label, params.clone())).collect();
        let outcomes = match is_script {
            true => rig.script_as(real_caller, &listed).await,
            false => {
                let mut outcomes = Vec::new();
                for (label, params) in &listed {
                    outcomes.push(rig.host_as(real_caller.clone(), label, params.clone()).await);
                }
                outcomes
            }
        };
        let provided = rig.provided.lock().unwrap()[before..].to_vec();
        let mut provided = provided.into_iter().peekable();
        let mut run = Run::default();
        for ((function, params), outcome) in calls.iter().zip(&outcomes) {
            if !is_script {
                run = Run::default();
            }
            let expected = model.call(&mut run, &caller, function, params);
            let was_provided = expected == Outcome::Provided;
            if was_provided {
                let called = provided.next();
                prop_assert_eq!(called.as_ref().map(|(label, _)| label.as_str()), Some(function.label));
            }
            // A missing scope is indistinguishable from a denial.
            let told = if expected == Outcome::NoScope { Outcome::Denied } else { expected };
            prop_assert_eq!(seen(outcome, was_provided), Some(told), "{} {}: {:?}", function.label, params, outcome);
            tally.count(expected);
        }
        prop_assert_eq!(provided.next(), None, "a provider ran that should not have");
        prop_assert_eq!(person.count(), model.asked);
    }
    Ok(())
}

/// Counts of each outcome.
#[derive(Default)]
struct Tally(Vec<(Outcome, usize)>);

impl Tally {
    fn count(&mut self, outcome: Outcome) {
        match self.0.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => self.0.push((outcome, 1)),
        }
    }
}

/// Compares spaces with the model, which may have forgotten a step.
fn compare(forgotten: Option<Outcome>, cases: u32, max_shrink_iters: u32) -> (Result<(), String>, Tally) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config { cases, failure_persistence: None, max_shrink_iters, ..Config::default() };
    let tally = std::cell::RefCell::new(Tally::default());
    let strategy = (policy(), vec(says(), 0..12), vec(step(), 1..7));
    // A faulty model must be detected deterministically.
    let mut runner = match forgotten {
        None => TestRunner::new(config),
        Some(_) => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let outcome = runner.run(&strategy, |(policy, says, steps)| {
        runtime.block_on(check(policy, says, steps, forgotten, &mut tally.borrow_mut()))
    });
    (outcome.map_err(|error| error.to_string()), tally.into_inner())
}

#[test]
fn a_provider_runs_if_and_only_if_every_step_passes() {
    let (outcome, tally) = compare(None, 400, 200);
    outcome.unwrap_or_else(|error| panic!("{error}"));
    // The test says nothing of what never came about.
    assert_eq!(tally.0.len(), EVERY.len(), "{:?}", tally.0);
}

const EVERY: [Outcome; 11] = [
    Outcome::Provided,
    Outcome::Kept,
    Outcome::NotGranted,
    Outcome::Denied,
    Outcome::NoScope,
    Outcome::Invalid,
    Outcome::BadArgument,
    Outcome::TooFast,
    Outcome::TooOften,
    Outcome::NotApproved,
    Outcome::Expired,
];

/// A space that lacked one of the steps would be noticed: so is a model that does.
#[test]
fn a_missing_step_is_detected() {
    for forgotten in EVERY.into_iter().filter(|outcome| *outcome != Outcome::Provided) {
        let (outcome, _) = compare(Some(forgotten), 300, 0);
        assert!(outcome.is_err(), "{forgotten:?}");
    }
}

/// The model's own matching is checked by hand, since all rests on it.
#[test]
fn the_model_matches_patterns_correctly() {
    for (pattern, label, expected) in [
        ("*", "crm.find", true),
        ("*.*", "crm.find", true),
        ("crm.*", "crm.find", true),
        ("crm.*", "crms.find", false),
        ("c*m.*i*", "crm.find", true),
        ("c*m.*i*", "crm.pay", false),
        ("*.*e*", "crm.find", false),
        ("*.*e*", "crm.remove", true),
        ("*.createIssue", "github.createIssue", true),
        ("crm.find", "crm.finds", false),
        ("crm.p*", "crm.ping", true),
        ("crm.p*", "post.send", false),
    ] {
        assert_eq!(fits(pattern, label), expected, "{pattern} {label}");
    }
}
