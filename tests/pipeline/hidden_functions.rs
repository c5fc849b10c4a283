//! Hidden functions: what a caller may not call is absent from objects and errors, and indistinguishable from an
//! unknown name.

use super::rig::{Rig, import, rules, with_scopes};
use agent_spaces::{Caller, Handlers, Interfaces, Limits, Package, PackageOutline, PrepareError, RunOptions, Space};
use agent_spaces_policy::Policy;
use agent_spaces_tests::engine;
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::{Format, parse_value};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// `crm.remove` is denied to all; `crm.pay` asks for a scope by its definition, `crm.ping` by a rule.
fn rig() -> Rig {
    Rig::new(rules(json!({ "crm.remove": "deny", "crm.ping": { "scopes": ["desk"] }, "github.*": "deny" })))
}

async fn value(rig: &Rig, caller: Caller, source: &str) -> Value {
    let program = rig.space.prepare("agent.js", source).unwrap_or_else(|error| panic!("{error}"));
    let report = program.run(RunOptions { caller: Arc::new(caller), ..RunOptions::default() }).await;
    report.outcome.unwrap_or_else(|error| panic!("{error:?}"))
}

#[tokio::test]
async fn objects_have_only_callable_functions() {
    let rig = rig();
    let source = import("crm")
        + "const names = []; for (const name in crm) names.push(name);
        export default [Object.keys(crm), Reflect.ownKeys(crm), names, Object.keys({ ...crm }),
            ['remove', 'pay', 'ping', 'find'].map((name) => name in crm), crm.hasOwnProperty('remove'),
            Object.getOwnPropertyDescriptor(crm, 'remove') === undefined]";
    for (scopes, expected, there) in [
        (&[][..], json!(["find", "note"]), json!([false, false, false, true])),
        (&["money"], json!(["find", "note", "pay"]), json!([false, true, false, true])),
        (&["desk", "other"], json!(["find", "note", "ping"]), json!([false, false, true, true])),
    ] {
        let seen = value(&rig, with_scopes(scopes), &source).await;
        assert_eq!(seen, json!([expected, expected, expected, expected, there, false, true]), "{scopes:?}");
    }
}

/// In every other respect it is the object that it was.
#[tokio::test]
async fn a_capability_is_an_ordinary_object() {
    let rig = rig();
    let source = import("crm")
        + "const same = await Promise.resolve(crm);
        crm.own = 1; const had = crm.own; delete crm.own;
        export default [same === crm, JSON.stringify(crm), String(crm), crm.__proto__ === Object.prototype,
            Object.getPrototypeOf(crm) === Object.prototype, crm.constructor === Object, crm.toString === Object.prototype.toString,
            typeof crm[Symbol.iterator], typeof crm[0], typeof crm.$resources, had, 'own' in crm]";
    let seen = value(&rig, Caller::default(), &source).await;
    assert_eq!(
        seen,
        json!([true, "{}", "[object Object]", true, true, true, true, "undefined", "undefined", "undefined", 1, false])
    );
    let report = rig.run(&(import("crm") + "console.log(crm)"), Limits::default()).await;
    assert_eq!(report.console[0].text, "{ find: [Function: find], note: [Function: note] }");
}

/// Invalid parameters reveal neither the signature of a hidden function nor its existence.
#[tokio::test]
async fn a_denied_name_and_an_unknown_one_fail_alike() {
    let rig = rig();
    let source = import("crm")
        + "const told = async (call) => { try { await call(); return 'called' } catch (e) {
            return [e instanceof CapabilityError, e.name, e.code, e.message, e.details ?? null, e.retryable] } };
        const { callCapability } = __agentSpaces;
        const all = {};
        for (const name of ['remove', 'pay', 'ping', 'nothing']) {
            all[name] = [
                await told(() => crm[name]({ amount: 'many', secret: 1 })), await told(() => crm[name]()),
                await told(() => crm[name](1, 2, 3)), await told(() => crm[name].call(null, null)),
                await told(() => callCapability('crm', name, { amount: 'many' })), await told(() => crm[name]().map(String)),
                typeof crm[name], crm[name].name, crm[name].length,
            ];
        }
        export default all";
    let seen = value(&rig, Caller::default(), &source).await;
    let unknown = |capability: &str, name: &str| {
        let message = format!("{capability}.{name}: no such function, or this caller may not call it");
        json!([true, "CapabilityError", "call.denied", message, null, false])
    };
    for name in ["remove", "pay", "ping", "nothing"] {
        let told = unknown("crm", name);
        assert_eq!(seen[name], json!([told, told, told, told, told, told, "function", "", 0]), "{name}");
    }
    assert_eq!(rig.count(), 0);
    // The host's own calls are told the same.
    let error = rig.host("crm.remove", json!({ "amount": "many" })).await.unwrap_err();
    assert_eq!(error.message, unknown("crm", "remove")[3]);
}

/// Attempts are recorded, with the configuration line that would allow them.
#[tokio::test]
async fn attempts_are_reported_to_the_operator() {
    let rig = rig();
    let source = import("crm")
        + "for (const name of ['remove', 'pay', 'nothing']) await crm[name]({}).catch(() => 0); export default 1";
    value(&rig, Caller::default(), &source).await;
    let told = rig.operator_notices();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].contains("$.policy.functions[\"crm.remove\"]: write \"allow\""), "{told:#?}");
    assert!(told[1].contains("`money`") && told[1].contains("the definition of crm.pay"), "{told:#?}");
    let events = rig.events.lock().unwrap();
    let shown: Vec<Value> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    let calls: Vec<&Value> =
        shown.iter().filter(|event| event["type"] == "callScheduled").map(|event| &event["functionId"]).collect();
    let id = |name: &str| json!(format!("capabilities:crm/crm@1.0.0#{name}"));
    assert_eq!(calls, [&id("remove"), &id("pay"), &id("nothing")]);
    assert_eq!(shown.iter().filter(|event| event["code"] == "call.denied").count(), 3);
}

/// Probing names is limited like calling.
#[tokio::test]
async fn attempts_count_as_failed_calls() {
    let rig = rig();
    for name in ["remove", "nothing"] {
        let source = import("crm") + &format!("for (;;) await crm.{name}({{}}).catch(() => 0)");
        let report = rig.run(&source, Limits { calls: 5, ..Limits::default() }).await;
        assert_eq!((report.outcome.unwrap_err().code.as_str(), report.usage.calls), ("limit.calls", 5), "{name}");
        let report = rig.run(&source, Limits { failures: 2, ..Limits::default() }).await;
        assert_eq!(report.outcome.unwrap_err().code, "limit.failures", "{name}");
    }
}

/// Suggestions name only callable functions.
#[tokio::test]
async fn hints_do_not_name_denied_functions() {
    let rig = rig();
    for (name, expected) in [
        ("remov", "crm has no function `remov`; it has find, note"),
        ("remove", "crm has no function `remove`; it has find, note"),
        ("notes", "crm has no function `notes`; did you mean `note`?"),
    ] {
        let report = rig.run(&(import("crm") + &format!("await crm.{name}({{}})")), Limits::default()).await;
        let error = report.outcome.unwrap_err();
        assert_eq!((error.code.as_str(), error.hint.as_deref()), ("call.denied", Some(expected)), "{error:?}");
        assert!(error.location.is_some(), "{error:?}");
    }
}

/// One program, callers by turns, often enough that its script is kept for each of them.
#[tokio::test]
async fn a_cached_program_shows_each_caller_their_own_functions() {
    let rig = rig();
    let source = import("crm") + "export default Object.keys(crm).length";
    let program = rig.space.prepare("agent.js", &source).unwrap();
    for _ in 0..20 {
        for (scopes, expected) in [(&[][..], 2), (&["money"], 3), (&["money", "desk"], 4)] {
            let caller = Arc::new(with_scopes(scopes));
            let report = program.run(RunOptions { caller, ..RunOptions::default() }).await;
            assert_eq!(report.outcome.unwrap(), json!(expected), "{scopes:?}");
        }
        tokio::task::yield_now().await;
    }
}

/// Two modules of which each exports a function itself.
fn single_functions(functions: Value) -> (Space, Arc<Mutex<Vec<String>>>) {
    let (mut handlers, mut interfaces) = (Handlers::new(), Interfaces::new().unwrap());
    for name in ["get_secret", "get_weather"] {
        let tool = json!({ "name": name, "description": name, "parameters": { "type": "object", "properties": {} } });
        let definitions = parse_value(name, &tool, None, Some(Format::OpenAi)).unwrap();
        let module = compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap();
        for interface in PackageOutline::of(&module).interfaces {
            handlers.add_interface(interface.name, |_| async { Ok(json!("sunny")) });
        }
        interfaces.add_package(Package::new(module)).unwrap();
    }
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = told.clone();
    let space = Space::builder(&engine())
        .interfaces(interfaces, handlers)
        .policy(Policy::new(rules(functions)))
        .operator(move |text| heard.lock().unwrap().push(text.to_string()))
        .build();
    (space.unwrap(), told)
}

fn module_of(space: &Space, part: &str) -> String {
    space.modules().find(|name| name.contains(part)).unwrap().to_owned()
}

/// A function that is an export itself is not exported.
#[tokio::test]
async fn a_denied_export_is_absent() {
    let (space, told) = single_functions(json!({ "getSecret": "deny" }));
    let module = module_of(&space, "secret");
    let refused = |import: &str, module: &str| {
        let source = format!("import {import} from '{module}'; export default [getSecret, getSecrets, m]");
        match space.prepare("agent.js", &source) {
            Err(PrepareError::Script(error)) => (error.code, error.message.replace(module, "MODULE"), error.hint),
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    for import in ["{ getSecret }", "{ getSecrets }", "* as m"] {
        let known = refused(import, &module);
        assert_eq!(known, refused(import, "@capabilities/zzzzzzzzzz"), "{import}");
        assert_eq!(known.1, "Cannot find module 'MODULE'");
        assert!(!known.2.unwrap().contains("secret"), "{import}");
    }
    let told = told.lock().unwrap().join("\n");
    assert!(told.contains("`policy.functions`: add \"getSecret.getSecret\": \"allow\""), "{told}");
    let weather = module_of(&space, "weather");
    let other = format!("import {{ getWeather }} from '{weather}'; export default await getWeather()");
    assert_eq!(space.prepare("agent.js", &other).unwrap().run(RunOptions::default()).await.outcome.unwrap(), "sunny");
}

/// If access depends on the caller, a run for a caller without access is refused.
#[tokio::test]
async fn an_export_without_the_callers_scope_is_absent() {
    let (space, told) = single_functions(json!({ "getSecret": { "scopes": ["vault"] } }));
    let module = module_of(&space, "secret");
    let source = format!("import {{ getSecret }} from '{module}';\nexport default await getSecret()");
    let program = space.prepare("agent.js", &source).unwrap();
    let run = |scopes: &[&str]| program.run(RunOptions { caller: Arc::new(with_scopes(scopes)), ..Default::default() });
    let error = run(&[]).await.outcome.unwrap_err();
    let unknown = match space.prepare("agent.js", &source.replace(&module, "@capabilities/zzzzzzzzzz")) {
        Err(PrepareError::Script(error)) => error,
        other => panic!("{:?}", other.map(|_| ())),
    };
    let renamed = unknown.message.replace("@capabilities/zzzzzzzzzz", &module);
    assert_eq!((error.code.as_str(), error.message), (unknown.code.as_str(), renamed));
    assert_eq!((error.hint, error.location.map(|at| (at.line, at.column))), (unknown.hint, Some((1, 27))));
    assert!(told.lock().unwrap()[0].contains("`vault`"), "{told:?}");
    assert_eq!(run(&["vault"]).await.outcome.unwrap(), "sunny");
    let whole = format!("import * as m from '{module}'; export default Object.keys(m)");
    let program = space.prepare("agent.js", &whole).unwrap();
    assert_eq!(program.run(RunOptions::default()).await.outcome.unwrap_err().code, "import.unknown");
    let caller = Arc::new(with_scopes(&["vault"]));
    let report = program.run(RunOptions { caller, ..RunOptions::default() }).await;
    assert_eq!(report.outcome.unwrap(), json!(["getSecret"]));
}

/// A module without callable functions is indistinguishable from an unknown one.
#[tokio::test]
async fn a_fully_denied_module_is_absent() {
    let rig = rig();
    let module = module_of(&rig.space, "github");
    for import in ["* as m", "{ github as m }", "{ other as m }"] {
        let source = format!("import {import} from '{module}'; export default m");
        let Err(PrepareError::Script(error)) = rig.space.prepare("agent.js", &source) else { panic!("{import}") };
        assert_eq!((error.code.as_str(), error.message), ("import.unknown", format!("Cannot find module '{module}'")));
        let hint = error.hint.unwrap();
        assert!(hint.contains("crm") && !hint.contains("github"), "{hint}");
    }
}
