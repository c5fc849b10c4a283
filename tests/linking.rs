//! Linking of interfaces and handlers, its errors, and answers that do not match their type.

use agent_spaces::{CapabilityError, Handlers, HostError, Interfaces, Space};
use agent_spaces_tests::{empty_space, engine, error, refusal, run, space, value};
use serde_json::{Value, json};

const TWO: &str = "package test:two@1.0.0;
interface first { one: async func() -> result<u32, string>; two: async func() -> result<u32, string>; }
interface second { three: async func() -> result<u32, string>; }";

const OTHER: &str = "package test:other@1.0.0; interface other { four: async func() -> result<u32, string>; }";

fn interfaces(wits: &[&str]) -> Result<Interfaces, HostError> {
    let mut interfaces = Interfaces::new()?;
    for wit in wits {
        interfaces.add("my.wit", wit)?;
    }
    Ok(interfaces)
}

fn handlers(names: &[(&str, &str)]) -> Handlers {
    let mut handlers = Handlers::new();
    for (interface, function) in names {
        handlers.add(*interface, *function, |_| async { Ok(json!(1)) });
    }
    handlers
}

const ALL: [(&str, &str); 4] = [
    ("test:two/first@1.0.0", "one"),
    ("test:two/first@1.0.0", "two"),
    ("test:two/second@1.0.0", "three"),
    ("test:other/other@1.0.0", "four"),
];

fn linked(wits: &[&str], names: &[(&str, &str)]) -> Result<Space, HostError> {
    let interfaces = interfaces(wits).expect("valid WIT");
    Space::builder(&engine()).interfaces(interfaces, handlers(names)).build()
}

fn refused(wits: &[&str], names: &[(&str, &str)]) -> HostError {
    match linked(wits, names) {
        Ok(_) => panic!("linked"),
        Err(error) => error,
    }
}

fn refused_wit(wit: &str) -> HostError {
    match interfaces(&[wit]) {
        Ok(_) => panic!("accepted: {wit}"),
        Err(error) => error,
    }
}

#[test]
fn every_missing_handler_is_named() {
    let error = refused(&[TWO], &ALL[1..2]);
    assert_eq!(error.code(), "config.handlers");
    let message = error.to_string();
    assert!(
        message.contains("test:two/first@1.0.0.one") && message.contains("test:two/second@1.0.0.three"),
        "{message}"
    );
    assert!(!message.contains("first@1.0.0.two"), "{message}");
    assert!(linked(&[TWO], &ALL[..3]).is_ok());
}

#[test]
fn an_unused_handler_is_refused_with_the_nearest_name() {
    let mut names = ALL[..3].to_vec();
    names.push(("test:two/second@1.0.0", "thre"));
    let error = refused(&[TWO], &names);
    assert_eq!(error.code(), "config.handlers");
    assert!(error.to_string().contains("did you mean test:two/second@1.0.0.three?"), "{error}");
}

/// A run is linked only with the imports of its script.
#[tokio::test]
async fn an_interface_that_is_not_imported_is_not_linked() {
    let space = linked(&[TWO, OTHER], &ALL).unwrap();
    assert_eq!(space.modules().collect::<Vec<_>>(), ["@test/other", "@test/two"]);
    let linked = |source: &str| {
        let program = space.prepare("script.ts", source).unwrap();
        program.interfaces().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(linked("1").is_empty());
    assert_eq!(linked("import { other } from '@test/other'; await other.four()"), ["test:other/other@1.0.0"]);
    assert_eq!(linked("const m = await import('@test/other'); await m.other.four()"), ["test:other/other@1.0.0"]);
    assert_eq!(linked("import type { other } from '@test/other'; 1"), Vec::<String>::new());
    assert_eq!(
        linked("import { first } from '@test/two'; await first.one()"),
        ["test:two/first@1.0.0"],
        "the module has a second interface, which this script does not import"
    );
}

/// A module that is not imported is unreachable by a computed name too.
#[tokio::test]
async fn a_module_that_is_not_imported_cannot_be_loaded_at_run_time() {
    let space = linked(&[TWO, OTHER], &ALL).unwrap();
    for attempt in [
        "await eval(\"import('@test/other')\")",
        "await new Function(\"return import('@test/other')\")()",
        "await (async () => {}).constructor(\"return import('@test/other')\")()",
        "await (0, eval)(\"import('@test/\" + \"other')\")",
    ] {
        let source = format!("import {{ first }} from '@test/two'; await first.one(); {attempt}");
        let ended = error(&space, &source).await;
        assert_eq!(ended.code, "import.denied", "{attempt}: {ended:?}");
        assert!(ended.message.contains("@test/other"), "{ended:?}");
    }
    let allowed = "import { first } from '@test/two'; const m = await eval(\"import('@test/two')\"); m.first === first";
    assert_eq!(value(&space, allowed).await, json!(true));
}

/// Importing what was not granted fails before any code runs, and names it.
#[test]
fn an_unknown_module_is_refused_before_the_run() {
    let error = refusal(&empty_space(), "script.ts", "console.log('never');\nimport { first } from '@test/two'; first");
    assert_eq!(error.code, "import.unknown");
    assert!(error.message.contains("@test/two"), "{error:?}");
    assert_eq!(error.position.map(|position| (position.line, position.column)), Some((2, 23)));
}

#[test]
fn unsupported_types_are_refused_by_name() {
    for (function, part) in [
        ("f: func(a: stream<u8>)", "stream"),
        ("f: func() -> future<u8>", "future"),
        ("f: func(a: map<string, u8>)", "map"),
        ("resource r { get: func() -> u8; }", "resource"),
        ("resource r; f: func(a: borrow<r>)", ""),
        ("f: func(a: error-context)", "error-context"),
        ("f: func(a: list<option<stream<string>>>)", "stream"),
    ] {
        let error = refused_wit(
            &format!("package test:odd@1.0.0; interface odd {{ {function}; }}")
                .replace("};;", "};")
                .replace("; };", "; }"),
        );
        assert_eq!(error.code(), "config.wit", "{function}");
        let message = error.to_string();
        assert!(message.starts_with("my.wit: ") && message.contains(part), "{function}: {message}");
    }
}

#[test]
fn invalid_wit_is_refused_with_its_location() {
    let error = refused_wit("package test:bad@1.0.0;\ninterface bad { f: func( }");
    assert_eq!(error.code(), "config.wit");
    assert!(error.to_string().contains("my.wit") && error.to_string().contains(":2:"), "{error}");
    assert_eq!(refused_wit("interface nameless { f: func(); }").code(), "config.wit");
}

#[test]
fn a_duplicate_interface_is_refused() {
    let mut interfaces = interfaces(&[TWO]).unwrap();
    let error = interfaces.add("again.wit", TWO).unwrap_err();
    assert!(error.to_string().contains("again.wit") && error.to_string().contains("test:two"), "{error}");
    assert_eq!(interfaces.names().count(), 2, "what was there stays");
    interfaces.add("other.wit", OTHER).expect("and more can be added");
}

/// Two names that scripts would write alike are refused: one would hide the other.
#[test]
fn colliding_script_names_are_refused() {
    let functions =
        "package test:alike@1.0.0; interface alike { get-u-r-l: async func() -> u8; get-URL: async func() -> u8; }";
    let members =
        "package test:alike@1.0.0; interface alike { record r { a-b-c: u8, a-BC: u8 } get: async func(r: r) -> u8; }";
    for wit in [functions, members] {
        assert_eq!(refused_wit(wit).code(), "config.wit", "{wit}");
    }
}

/// Two versions of one interface would be one name in one module.
#[test]
fn two_versions_of_an_interface_coexist() {
    let next = OTHER.replace("1.0.0", "2.0.0");
    let mut interfaces = interfaces(&[OTHER]).unwrap();
    assert!(interfaces.add("next.wit", &next).is_err(), "both are `other` of '@test/other'");
}

const SHAPES: &str = "package test:shapes@1.0.0;
interface shapes {
    use agent-spaces:host/types@0.1.0.{capability-error, json};
    record trip { id: u8, hour: option<s64>, tags: list<string> }
    trips: async func() -> result<list<trip>, capability-error>;
    text: async func() -> result<trip, string>;
    bare: async func() -> u8;
    enum mine { broken, lost }
    owned: async func() -> result<u8, mine>;
    nothing: async func() -> result<_, capability-error>;
    void: async func();
}";

/// A space whose functions all answer the same.
fn answering(answer: Result<Value, CapabilityError>) -> Space {
    let mut handlers = Handlers::new();
    for function in ["trips", "text", "bare", "owned", "nothing", "void"] {
        let answer = answer.clone();
        handlers.add("test:shapes/shapes@1.0.0", function, move |_| {
            let answer = answer.clone();
            async move { answer }
        });
    }
    space(SHAPES, handlers)
}

async fn caught(space: &Space, call: &str) -> Value {
    let source = format!(
        "import {{ shapes }} from '@test/shapes';
         try {{ return {{ value: await shapes.{call} }} }}
         catch (e) {{ return {{ is: e instanceof CapabilityError, code: e.code ?? null, message: e.message, payload: e.payload ?? null }} }}"
    );
    value(space, &source).await
}

#[tokio::test]
async fn an_answer_of_the_wrong_shape_is_an_error_with_its_path() {
    for (answer, part) in [
        (json!({}), "expected an array, got an object"),
        (json!([{"id": 1, "tags": []}, {"id": 300, "tags": []}]), "[1].id: the integer 300 is out of range"),
        (json!([{"id": 1, "tags": ["a", 5]}]), "[0].tags[1]: expected a string, got a number"),
        (json!([{"id": 1}]), "[0].tags: is required but missing"),
        (json!([{"id": 1, "tags": [], "colour": 1}]), "[0]: unknown member `colour`"),
        (json!([{"id": 1.5, "tags": []}]), "[0].id: expected an integer"),
        (json!([{"id": null, "tags": []}]), "[0].id: expected an integer, got null"),
        (Value::Null, "expected an array, got null"),
    ] {
        let seen = caught(&answering(Ok(answer.clone())), "trips()").await;
        assert_eq!((&seen["is"], &seen["code"]), (&json!(true), &json!("call.failed")), "{answer}: {seen}");
        assert!(seen["message"].as_str().unwrap_or("").contains(part), "{answer}: {seen}");
    }
    let fits = json!([{"id": 1, "hour": null, "tags": []}]);
    assert_eq!(caught(&answering(Ok(fits)), "trips()").await["value"], json!([{"id": 1, "tags": []}]));
}

#[tokio::test]
async fn an_uncaught_failure_keeps_its_code_and_details() {
    let failure = CapabilityError {
        code: "call.busy".into(),
        message: "slow down".into(),
        retryable: true,
        details: Some(json!({"after": [1, 2]})),
    };
    let space = answering(Err(failure));
    let ended = error(&space, "import { shapes } from '@test/shapes';\nawait shapes.trips()").await;
    assert_eq!((ended.code.as_str(), ended.message.as_str()), ("call.busy", "slow down"));
    assert_eq!(ended.name.as_deref(), Some("CapabilityError"));
    assert!(ended.retryable);
    assert_eq!(ended.details, Some(json!({"after": [1, 2]})));
    assert_eq!(ended.location.map(|location| location.line), Some(2), "where the script called it");
}

/// Interfaces with errors of their own get them in their own form.
#[tokio::test]
async fn an_error_takes_the_declared_form() {
    let failure = CapabilityError { details: Some(json!("lost")), ..CapabilityError::failed("gone") };
    let space = answering(Err(failure));
    let seen = caught(&space, "text()").await;
    assert_eq!((&seen["is"], &seen["message"]), (&json!(false), &json!("gone")));
    assert_eq!(caught(&space, "owned()").await["payload"], json!("lost"));
    assert_eq!(caught(&space, "nothing()").await["code"], json!("call.failed"));
}

/// If the type cannot express an error, the run ends with it.
#[tokio::test]
async fn an_error_outside_the_declared_type_ends_the_run() {
    let space = answering(Err(CapabilityError::failed("gone")));
    for function in ["bare", "void", "owned"] {
        let ended = error(
            &space,
            &format!("import {{ shapes }} from '@test/shapes'; try {{ await shapes.{function}() }} catch {{}}"),
        )
        .await;
        assert_eq!(ended.code, "call.failed", "{function}");
        assert!(ended.message.contains("gone"), "{ended:?}");
    }
    assert_eq!(
        run(&answering(Ok(json!(7))), "import { shapes } from '@test/shapes'; await shapes.bare()")
            .await
            .outcome
            .unwrap(),
        json!(7)
    );
}

/// A handler that panics harms neither the host nor the next run.
#[tokio::test]
async fn a_handler_that_panics_is_contained() {
    let mut handlers = Handlers::new();
    handlers.add("test:other/other@1.0.0", "four", |_| async { panic!("a bug in the handler") });
    let space = space(OTHER, handlers);
    let program = space.prepare("script.ts", "import { other } from '@test/other'; await other.four()").unwrap();
    let report = program.start(Default::default()).finish().await;
    assert!(report.outcome.is_err());
    assert_eq!(value(&space, "1 + 1").await, json!(2));
}
