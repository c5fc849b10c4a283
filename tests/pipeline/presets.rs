//! Presets, and rules that override them.

use super::rig::{Rig, ScriptedApprover, settings};
use agent_spaces::project::{Outlines, Project, Surroundings, find};
use agent_spaces::{CapabilityError, Limits};
use agent_spaces_approvals::Decision;
use agent_spaces_tests::engine;
use serde_json::{Value, json};
use std::time::Duration;

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    Allowed,
    Asked,
    Denied,
}
use Decided::{Allowed, Asked};

/// Outcome of a call without an approver.
pub(super) fn decided(outcome: &Result<Value, CapabilityError>) -> Decided {
    match outcome.as_ref().map_err(|error| error.code.as_str()) {
        Ok(_) => Decided::Allowed,
        Err("call.approval_denied") => Decided::Asked,
        Err("call.denied") => Decided::Denied,
        Err(_) => panic!("{outcome:?}"),
    }
}

/// One function of every kind.
const KINDS: [&str; 8] = [
    "github.listIssues",  // accepted as reading only
    "github.createIssue", // says that it does more
    "github.closeIssue",  // says nothing
    "crm.find",           // a handler without a word on approval
    "crm.remove",         // `requiresApproval: true`
    "crm.note",           // `requiresApproval: false`
    "post.send",          // WIT by hand
    "time.now",           // the standard library
];

/// The table of the presets, for the functions above.
const PRESETS: [(Option<&str>, [Decided; 8]); 4] = [
    (Some("restrictive"), [Allowed, Asked, Asked, Asked, Asked, Asked, Asked, Allowed]),
    (Some("standard"), [Allowed, Asked, Asked, Asked, Asked, Allowed, Asked, Allowed]),
    (Some("permissive"), [Allowed, Allowed, Allowed, Allowed, Asked, Allowed, Allowed, Allowed]),
    (None, [Allowed, Allowed, Allowed, Allowed, Asked, Allowed, Allowed, Allowed]),
];

fn policy(preset: Option<&str>, functions: Value) -> agent_spaces_policy::Settings {
    let mut policy = json!({ "functions": functions });
    if let Some(preset) = preset {
        policy["preset"] = json!(preset);
    }
    settings(policy)
}

/// False for the standard library, whose calls are not recorded.
fn is_recorded(label: &str) -> bool {
    label != "time.now"
}

#[tokio::test]
async fn every_preset_decides_over_every_kind_of_function() {
    for (preset, fates) in PRESETS {
        let rig = Rig::new(policy(preset, json!({})));
        let scripted = rig.script(&KINDS.map(|label| (label, json!({})))).await;
        for ((label, expected), by_script) in KINDS.into_iter().zip(fates).zip(scripted) {
            assert_eq!(decided(&by_script), expected, "{preset:?} {label}: {by_script:?}");
            let by_host = rig.host(label, json!({})).await;
            assert_eq!(decided(&by_host), expected, "{preset:?} {label}: {by_host:?}");
            let calls = rig.provided.lock().unwrap().iter().filter(|(provided, _)| provided == label).count();
            let expected_calls = if expected == Allowed && is_recorded(label) { 2 } else { 0 };
            assert_eq!(calls, expected_calls, "{preset:?} {label}");
        }
    }
}

/// If a person is asked, their decision counts.
#[tokio::test]
async fn a_call_is_made_if_approved_and_not_if_denied() {
    for (preset, fates) in PRESETS {
        let rig = Rig::new(policy(preset, json!({})));
        for (label, expected) in KINDS.into_iter().zip(fates).filter(|(label, _)| is_recorded(label)) {
            let person = ScriptedApprover::new([Ok(Decision::approve("ada")), Ok(Decision::deny("ada", None))]);
            rig.space.approvals().ask(person.clone());
            let before = rig.count();
            assert_eq!(rig.host(label, json!({})).await.unwrap(), json!("done"), "{preset:?} {label}");
            assert_eq!(rig.count(), before + 1);
            let second = rig.host(label, json!({})).await;
            assert_eq!(decided(&second), expected, "{preset:?} {label}: {second:?}");
            let was_done = usize::from(expected == Allowed);
            assert_eq!((rig.count(), person.count()), (before + 1 + was_done, 2 - 2 * was_done), "{preset:?} {label}");
        }
    }
}

/// A rule for the function goes over its preset and its definition, in every direction.
#[tokio::test]
async fn a_rule_overrides_every_preset() {
    let decisions = [("allow", Decided::Allowed), ("approve", Decided::Asked), ("deny", Decided::Denied)];
    for (preset, _) in PRESETS {
        for (decision, expected) in decisions {
            let rig = Rig::new(policy(preset, json!({ "*": decision })));
            for label in KINDS {
                let outcome = rig.host(label, json!({})).await;
                assert_eq!(decided(&outcome), expected, "{preset:?} {decision} {label}");
            }
            let done = if expected == Allowed { KINDS.len() - 1 } else { 0 };
            assert_eq!(rig.count(), done, "{preset:?} {decision}");
        }
    }
}

/// Effect of a trusted configuration, and of an untrusted one.
fn projects(config: Value) -> [Project; 2] {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent-spaces.config.json"), config.to_string()).unwrap();
    let file = find(folder.path(), None).unwrap().unwrap();
    let surroundings = Surroundings { outlines: Outlines::none(), ..Surroundings::default() };
    surroundings.trust.accept(&file, config.to_string().as_bytes()).unwrap();
    let open = |surroundings| Project::open_in(&file, &engine(), surroundings).unwrap();
    [open(&surroundings), open(&Surroundings { trust: Default::default(), ..surroundings.clone() })]
}

fn limits(config: Value, space: Option<&str>) -> Limits {
    projects(config)[0].limits(space)
}

/// A file that came with a project may be strict, and not generous.
#[test]
fn an_untrusted_configuration_can_only_lower_limits() {
    let usual = Limits::default();
    let config = json!({
        "limits": { "fuel": "100G", "memory": "1GiB", "time": "1h", "calls": 7, "resultBytes": "1GB", "consoleBytes": "1GB",
            "inflight": 10_000, "bytesPerCall": "1GB", "failures": 3 },
        "spaces": { "desk": { "policy": "permissive" }, "strict": { "policy": "restrictive", "limits": { "time": "2s" } } },
    });
    let [accepted, unaccepted] = projects(config);
    assert_eq!(accepted.limits(None).time, Duration::from_secs(3600));
    assert_eq!(accepted.raised_note(None), None);
    assert_eq!(unaccepted.limits(None), Limits { calls: 7, failures: 3, ..usual.clone() });
    assert_eq!(unaccepted.time_limit(None), Some(usual.time));
    let note = unaccepted.raised_note(None).unwrap();
    for part in ["`limits.fuel`", "`limits.memory`", "`limits.time`", "`limits.inflight`", "run `agent-spaces trust "] {
        assert!(note.contains(part), "{part}: {note}");
    }
    assert!(!note.contains("limits.calls") && !note.contains("limits.failures"), "{note}");
    assert!(unaccepted.raised_note(Some("desk")).unwrap().contains("`policy.preset`"));
    // Stricter settings apply, without a notice.
    let strict = json!({ "policy": "restrictive", "limits": { "fuel": "1M" } });
    let [accepted, unaccepted] = projects(strict);
    assert_eq!(unaccepted.limits(None), accepted.limits(None));
    assert_eq!((unaccepted.limits(None).calls, unaccepted.limits(None).fuel), (50, 1_000_000));
    assert_eq!(unaccepted.raised_note(None), None);
}

#[test]
fn explicit_limits_override_those_of_a_preset() {
    let usual = Limits::default();
    for (preset, seconds, megabytes, calls) in
        [("restrictive", 5, 32, 50), ("standard", 30, 64, 500), ("permissive", 600, 256, 10_000)]
    {
        let expected =
            Limits { time: Duration::from_secs(seconds), memory: megabytes << 20, calls, ..Limits::default() };
        assert_eq!(limits(json!({ "policy": preset }), None), expected, "{preset}");
        // The space's own preset, whatever all have.
        let other = if preset == "standard" { "permissive" } else { "standard" };
        let config = json!({ "policy": other, "spaces": { "desk": { "policy": preset }, "plain": {} } });
        assert_eq!(limits(config.clone(), Some("desk")), expected, "{preset}");
        assert_ne!(limits(config, Some("plain")), expected, "{preset}");
        // Explicit settings override the preset, member by member.
        let config = json!({ "policy": preset, "limits": { "calls": 7, "failures": 3 } });
        assert_eq!(limits(config, None), Limits { calls: 7, failures: 3, ..expected }, "{preset}");
    }
    assert_eq!(limits(json!({}), None), usual);
    // Rules without a preset bring no limits.
    assert_eq!(limits(json!({ "policy": { "functions": { "*": "approve" } } }), None), usual);
}
