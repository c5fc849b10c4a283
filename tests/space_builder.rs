//! Builder of a space: order of settings, errors, and the limits of its runs.

use agent_spaces::policy::{Policy, Settings};
use agent_spaces::{
    Capability, CapabilityError, Handlers, HostError, Interfaces, Limits, RunOptions, Space, SpaceBuilder,
    StandardLibrary,
};
use agent_spaces_tests::{builder, builder_with, value};
use serde_json::json;
use std::time::Duration;

const WIT: &str = "package test:clock@1.0.0; interface clock { now: async func() -> result<u32, string>; }";
const CLOCK: &str = "test:clock/clock@1.0.0";

fn greeter(name: &str) -> Capability {
    Capability::new(name).function("greet", "Greets", |(): ()| async { Ok::<_, CapabilityError>("hello") })
}

fn handlers() -> Handlers {
    let mut handlers = Handlers::new();
    handlers.add(CLOCK, "now", |_| async { Ok(json!(7)) });
    handlers
}

fn refused(builder: SpaceBuilder) -> HostError {
    match builder.build() {
        Ok(_) => panic!("built"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn capabilities_wit_and_the_standard_library_join_in_any_order() {
    let library = || StandardLibrary::new(&Policy::new(Settings::default()), None, None).unwrap();
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add("clock.wit", WIT).unwrap();
    let before = builder_with(WIT, handlers()).capability(greeter("greeter")).capability(library());
    let after = builder().capability(library()).capability(greeter("greeter")).interfaces(interfaces, handlers());
    let source = "import { json } from '@agent-spaces/std';
        import { greeter } from '@capabilities/greeter';
        import { clock } from '@test/clock';
        export default [await greeter.greet(), await clock.now(), await json.parse('[1]')]";
    for space in [before, after] {
        assert_eq!(value(&space.build().unwrap(), source).await, json!(["hello", 7, [1]]));
    }
}

#[test]
fn build_returns_the_first_error() {
    let duplicate = refused(builder().capability(greeter("greeter")).capability(greeter("greeter")));
    assert!(matches!(duplicate, HostError::Duplicate(_)), "{duplicate}");
    let empty = refused(builder().capability(Capability::new("empty")));
    assert!(matches!(empty, HostError::Wit { .. }), "{empty}");
    let unhandled = refused(builder_with(WIT, Handlers::new()));
    assert!(matches!(unhandled, HostError::MissingHandlers(_)), "{unhandled}");
    let twice = refused(builder_with(WIT, handlers()).interfaces(Interfaces::new().unwrap(), Handlers::new()));
    assert!(twice.to_string().contains("`interfaces` was called twice"), "{twice}");
    let limits = Limits { memory: u64::MAX, ..Limits::default() };
    let large = refused(builder().limits(limits));
    assert!(matches!(large, HostError::Limits(_)), "{large}");
}

async fn code(space: &Space, source: &str, options: RunOptions) -> String {
    let program = space.prepare("script.ts", source).unwrap();
    program.run(options).await.outcome.map_or_else(|error| error.code, |value| value.to_string())
}

#[tokio::test]
async fn a_run_has_the_limits_of_its_space_unless_it_sets_its_own() {
    let limits = Limits { calls: 1, time: Duration::from_secs(20), ..Limits::default() };
    let space = builder_with(WIT, handlers()).limits(limits.clone()).build().unwrap();
    let source = "import { clock } from '@test/clock'; await clock.now(); export default await clock.now()";
    assert_eq!((space.limits(), space.prepare("script.ts", "1").unwrap().limits()), (&limits, &limits));
    assert_eq!(code(&space, source, RunOptions::default()).await, "limit.calls");
    let started = space.prepare("script.ts", source).unwrap().start(RunOptions::default()).finish().await;
    assert_eq!(started.outcome.unwrap_err().code, "limit.calls");
    let own = RunOptions { limits: Some(Limits { calls: 2, ..limits }), ..RunOptions::default() };
    assert_eq!(code(&space, source, own).await, "7");
}

#[test]
fn the_source_limit_of_a_space_refuses_a_longer_script() {
    let space = builder().limits(Limits { source: 20, ..Limits::default() }).build().unwrap();
    assert!(space.prepare("short.ts", "1").is_ok());
    assert!(space.prepare("long.ts", "'123456789012345678901234567890'").is_err());
}

#[tokio::test]
async fn a_run_keeps_the_id_that_the_host_chose() {
    let program = builder().build().unwrap().prepare("script.ts", "1").unwrap();
    let options = || RunOptions { run_id: Some("run_chosen".into()), ..RunOptions::default() };
    assert_eq!(&*program.run(options()).await.run_id, "run_chosen");
    assert_eq!(program.start(options()).id(), "run_chosen");
    assert_ne!(program.run(RunOptions::default()).await.run_id, program.run(RunOptions::default()).await.run_id);
}
