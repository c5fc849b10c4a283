use crate::{Equipment, Narrowing, NarrowingError, Outlines, Project, Surroundings};
use agent_spaces_pipeline::Histories;
use agent_spaces_policy::{Decision, Facts, FunctionId, Kind, Policy};
use agent_spaces_sandbox::engine::{Engine, EngineConfig};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

const WEATHER: &str = r#"{ "name": "weather", "functions": [{ "name": "now", "description": "Now" }] }"#;
const NOTES: &str = r#"{ "name": "notes", "functions": [{ "name": "create", "description": "Create" }] }"#;
const SDK: &str = r#"{ "name": "internal-sdk", "functions": [{ "name": "find", "description": "Find" }] }"#;
const SECRET: &str = r#"{ "name": "payroll", "functions": [{ "name": "list", "description": "List" }] }"#;

fn project() -> (TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({
        "capabilities": {
            "global": ["@agent-spaces/std", "./capabilities"], "registry": { "@company/internal-sdk": "./sdk.json" }
        },
        "mcpServers": { "slack": { "command": "x" }, "github": { "command": "x" }, "jira": { "command": "x" } },
        "limits": { "calls": 100, "time": "20s" },
        "policy": { "functions": { "weather.*": "approve" } },
        "spaces": {
            "support": {
                "capabilities": ["@company/internal-sdk", "mcp:slack", "mcp:github"], "workspace": "./work",
                "policy": { "http": { "domains": ["*.example.com"] } }
            },
            "closed": { "policy": { "fs": { "read": false, "write": false } } },
            "office": { "capabilities": ["./private/payroll.json", "mcp:jira"] }
        }
    });
    let config = config.to_string();
    let files = [
        ("capabilities/weather.json", WEATHER),
        ("capabilities/notes.json", NOTES),
        ("sdk.json", SDK),
        ("private/payroll.json", SECRET),
        ("agent-spaces.config.json", config.as_str()),
        ("work/a.txt", "a"),
        ("own/b.txt", "b"),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let own = Surroundings {
        user_folder: Some(folder.path().to_owned()),
        outlines: Outlines::none(),
        ..Surroundings::default()
    };
    let project = Project::open_in(&folder.path().join("agent-spaces.config.json"), &engine, &own).unwrap();
    assert!(project.is_accepted());
    (folder, project)
}

fn part() -> Narrowing {
    Narrowing { id: "spc_1".into(), ..Narrowing::default() }
}

fn with(capabilities: &[&str]) -> Narrowing {
    Narrowing { capabilities: Some(capabilities.iter().map(|entry| (*entry).to_owned()).collect()), ..part() }
}

/// Capabilities of a narrowed space.
fn given(project: &Project, capabilities: &[&str]) -> Result<Vec<String>, NarrowingError> {
    project.narrowed(Some("support"), &with(capabilities)).map(|modules| modules.entry_names())
}

#[test]
fn a_space_without_a_list_has_all_of_its_base() {
    let (_folder, project) = project();
    let base = project.space(Some("support")).unwrap();
    let all = [
        "@agent-spaces/std",
        "@capabilities/notes",
        "@capabilities/weather",
        "@company/internal-sdk",
        "mcp:github",
        "mcp:slack",
    ];
    assert_eq!(base.entry_names(), all);
    let narrowed = project.narrowed(Some("support"), &part()).unwrap();
    assert_eq!(narrowed.entry_names(), all);
    assert_eq!(narrowed.identity(), format!("{}\0spc_1", base.identity()));
}

#[test]
fn a_list_takes_what_the_base_is_given() {
    let (_folder, project) = project();
    for (entry, expected) in [
        ("@company/internal-sdk", &["@company/internal-sdk"][..]),
        ("@capabilities/notes", &["@capabilities/notes"][..]),
        ("./capabilities", &["@capabilities/notes", "@capabilities/weather"][..]),
        ("./capabilities/notes.json", &["@capabilities/notes"][..]),
        ("mcp:slack", &["mcp:slack"][..]),
        ("mcp:*", &["mcp:github", "mcp:slack"][..]),
        ("@agent-spaces/std", <&[&str]>::default()),
    ] {
        let expected: Vec<&str> = [&["@agent-spaces/std"][..], expected].concat();
        assert_eq!(given(&project, &[entry]).unwrap(), expected, "{entry}");
    }
    assert_eq!(given(&project, &[]).unwrap(), ["@agent-spaces/std"]);
}

#[test]
fn what_the_base_lacks_is_denied_as_what_does_not_exist() {
    let (folder, project) = project();
    let path = folder.path().display().to_string();
    for entry in [
        "mcp:jira",
        "mcp:jirra",
        "./private/payroll.json",
        "./private",
        "@capabilities/payroll",
        "./capabilities/../private",
        "./capabilities.lock",
        &path,
        "weather",
        "",
    ] {
        match given(&project, &["mcp:slack", entry]).unwrap_err() {
            NarrowingError::Denied { entry: denied, nearest } => {
                assert_eq!(denied, entry);
                let near = nearest.unwrap_or_default();
                assert!(!near.contains("jira") && !near.contains("payroll"), "{entry}: {near}");
            }
            error => panic!("{entry}: {error}"),
        }
    }
    let error = given(&project, &["mcp:slak"]).unwrap_err().to_string();
    assert_eq!(error, "the base space is not given `mcp:slak`; did you mean `mcp:slack`?");
    assert!(matches!(project.narrowed(Some("suport"), &part()), Err(NarrowingError::Base(_))));
}

#[test]
fn a_policy_only_tightens() {
    let (_folder, project) = project();
    let narrowed = |policy: Value| project.narrowed(Some("support"), &Narrowing { policy: Some(policy), ..part() });
    let tight = narrowed(json!({ "http": { "domains": ["api.example.com"] }, "functions": { "notes.*": "deny" } }));
    let policy = tight.unwrap().policy();
    assert!(policy.network().check("GET", "api.example.com").is_ok());
    assert!(policy.network().check("GET", "www.example.com").is_err());
    let decision = |policy: &Policy, capability: &str, function: &str| {
        let id = FunctionId::new(format!("capabilities:{capability}/{capability}@1.0.0"), function);
        let label = format!("{capability}.{function}");
        policy.function(&Facts::new(&id, &label, Kind::Handler)).decision().decision
    };
    assert_eq!(decision(&policy, "notes", "create"), Decision::Deny);
    assert_eq!(decision(&policy, "weather", "now"), Decision::Approve);
    for (policy, place) in [
        (json!({ "http": { "domains": ["api.example.com", "elsewhere.org"] } }), "/policy/http/domains/1"),
        (json!({ "functions": { "weather.now": "allow" } }), "/policy/functions/weather.now"),
        (json!({ "approvals": { "expires": "1h" } }), "/policy/approvals/expires"),
    ] {
        match narrowed(policy.clone()).map(drop).unwrap_err() {
            NarrowingError::Loosens { pointer, .. } => assert_eq!(pointer, place),
            error => panic!("{policy}: {error}"),
        }
    }
    match narrowed(json!({ "http": { "domain": [] } })).map(drop).unwrap_err() {
        NarrowingError::Invalid { pointer, message } => {
            assert_eq!(pointer, "/policy/http/domain");
            assert!(message.contains("did you mean `domains`?"), "{message}");
        }
        error => panic!("{error}"),
    }
}

#[test]
fn limits_are_at_most_those_of_the_base() {
    let (_folder, project) = project();
    let narrowed = |limits: Value| project.narrowed(Some("support"), &Narrowing { limits: Some(limits), ..part() });
    let base = project.base_limits(Some("support")).unwrap();
    assert_eq!((base.calls, base.time), (100, Duration::from_secs(20)));
    let lower = narrowed(json!({ "calls": 5, "timeout": "1s" })).unwrap().limits();
    assert_eq!((lower.calls, lower.time, lower.memory), (5, Duration::from_secs(1), base.memory));
    assert_eq!(project.narrowed(Some("support"), &part()).unwrap().limits(), base);
    for (limits, place) in [
        (json!({ "calls": 101 }), "/limits/calls"),
        (json!({ "time": "21s" }), "/limits/time"),
        (json!({ "sourceBytes": "1GiB" }), "/limits/sourceBytes"),
    ] {
        match narrowed(limits).map(drop).unwrap_err() {
            NarrowingError::Loosens { pointer, .. } => assert_eq!(pointer, place),
            error => panic!("{error}"),
        }
    }
    assert!(
        matches!(narrowed(json!({ "fule": 1 })), Err(NarrowingError::Invalid { pointer, .. }) if pointer == "/limits/fule")
    );
    let strict = Narrowing { policy: Some(json!("restrictive")), ..part() };
    assert_eq!(project.narrowed(Some("support"), &strict).unwrap().limits().calls, 50);
    assert!(project.base_limits(Some("suport")).is_err());
}

#[test]
fn a_workspace_replaces_that_of_the_base_where_files_are_allowed() {
    let (folder, project) = project();
    let own = folder.path().join("own");
    let narrowing = Narrowing { workspace: Some(own.clone()), ..part() };
    assert_eq!(project.narrowed(Some("support"), &narrowing).unwrap().workspace(), Some(own.as_path()));
    assert_eq!(project.narrowed(None, &narrowing).unwrap().workspace(), Some(own.as_path()));
    assert_eq!(project.narrowed(Some("closed"), &narrowing).unwrap().workspace(), None);
    let work = folder.path().join("work").canonicalize().unwrap();
    assert_eq!(project.narrowed(Some("support"), &part()).unwrap().workspace(), Some(work.as_path()));
}

#[test]
fn calls_are_counted_with_those_of_the_base() {
    let (folder, project) = project();
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let histories = Histories::default();
    let equipment = Equipment {
        histories: Some(histories.clone()),
        counts: Some(folder.path().join("state")),
        ..Equipment::default()
    };
    let base = project.space(Some("closed")).unwrap();
    let tight = Narrowing { policy: Some(json!({ "functions": { "notes.*": "deny" } })), ..with(&[]) };
    let narrowed = project.narrowed(Some("closed"), &tight).unwrap();
    assert_eq!(narrowed.identity(), format!("{}\0spc_1", base.identity()));
    narrowed.assemble_with(&engine, &equipment).unwrap();
    let whole = histories.of(base.identity(), &project.policy(Some("closed")));
    let settings = project.policy(Some("closed"));
    let own = || histories.part_of((base.identity(), &settings), narrowed.identity(), &narrowed.policy);
    let first = own();
    assert!(first.policy.is_within(&whole.policy));
    assert!(Arc::ptr_eq(&first.policy, &own().policy), "kept while the space is used");
    narrowed.forget(&equipment);
    assert!(!Arc::ptr_eq(&first.policy, &own().policy));
}
