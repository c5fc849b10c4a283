//! Projects, their spaces, and the checks of calls.

use agent_spaces::project::{DefinitionBody, Outlines, Project, Scope, build, definitions_at, find};
use agent_spaces::{Handlers, Interfaces, Package, PrepareError, Program, RunOptions, Space, TypedCall};
use agent_spaces_tests::engine;
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::{Source, parse};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const WEATHER: &str = r#"{
    "name": "weather", "description": "Weather",
    "functions": [{
        "name": "get_forecast", "description": "The forecast",
        "parameters": {
            "type": "object",
            "properties": {
                "city": { "type": "string", "minLength": 2 },
                "days": { "type": "integer", "minimum": 1, "maximum": 14, "default": 3 },
                "unit": { "type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius" },
                "note": { "type": ["string", "null"] }
            },
            "required": ["city"]
        },
        "returns": { "type": "array", "items": { "type": "object", "properties": { "high": { "type": "number" } } } }
    }]
}"#;

const NOTES: &str = r#"{ "name": "notes", "description": "Notes", "functions": [
    { "name": "create", "description": "Create a note", "parameters": { "title": { "type": "string" } } } ] }"#;

/// A project with these files.
fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn open(folder: &Path) -> Result<Project, String> {
    let file = find(folder, None).map_err(|error| error.to_string())?.expect("there is a configuration");
    Project::open(&file, &engine(), &Outlines::none()).map_err(|error| error.to_string())
}

fn prepare(project: &Project, space: Option<&str>, script: &str) -> Result<Program, PrepareError> {
    project.space(space).unwrap().assemble(&engine()).unwrap().prepare("agent.ts", script)
}

async fn value(program: &Program) -> Value {
    program.run(RunOptions::default()).await.outcome.unwrap()
}

/// A space with one tool whose calls are recorded.
fn recorded(definition: &str) -> (Space, Arc<Mutex<Vec<Value>>>) {
    let source = Source { file: "weather.json", text: definition, name: None, format: None };
    let definitions = parse(&source).unwrap();
    let module = compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap();
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add_package(Package::new(module)).unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let mut handlers = Handlers::new();
    handlers.add_interface("capabilities:weather/weather@1.0.0", move |call| {
        seen.lock().unwrap().push(json!({ "name": &*call.source_name, "params": call.params }));
        async { Ok(json!([{ "high": 21.5, "source": "station" }])) }
    });
    (Space::builder(&engine()).interfaces(interfaces, handlers).build().unwrap(), calls)
}

const CONFIG: &str = r#"{
    "capabilities": { "global": ["./tools/weather.json"] },
    "limits": { "fuel": "900M" },
    "spaces": {
        "desk": { "capabilities": ["./tools/notes.json"], "limits": { "time": "2s" } },
        "plain": {}
    }
}"#;

const FILES: &[(&str, &str)] = &[
    ("agent-spaces.config.json", CONFIG),
    ("tools/weather.json", WEATHER),
    ("tools/weather.ts", "export const getForecast = ({ city, days }) => [{ high: days, city }];"),
    ("tools/notes.json", NOTES),
    ("tools/notes.ts", "export const create = ({ title }) => ({ id: 1, title });"),
];

/// Global capabilities are in every space, its own in a space.
#[tokio::test]
async fn a_space_has_the_global_capabilities_and_its_own() {
    let folder = project(FILES);
    let project = open(folder.path()).unwrap();
    let script = "import { weather } from '@capabilities/weather'; await weather.getForecast({ city: 'Ulm' })";
    for space in [None, Some("desk"), Some("plain")] {
        let program = prepare(&project, space, script).unwrap();
        assert_eq!(value(&program).await, json!([{ "high": 3, "city": "Ulm" }]), "{space:?}");
    }
    let script = "import { notes } from '@capabilities/notes'; await notes.create({ title: 'x' })";
    assert_eq!(value(&prepare(&project, Some("desk"), script).unwrap()).await, json!({ "id": 1, "title": "x" }));
    assert_eq!(project.limits(Some("desk")).fuel, 900_000_000);
    assert_eq!(project.limits(Some("desk")).time.as_secs(), 2);
    assert_ne!(project.limits(Some("plain")).time.as_secs(), 2);
}

/// An ungranted module is refused before any code runs, and the operator learns how to grant it.
#[test]
fn ungranted_modules_cannot_be_imported() {
    let folder = project(FILES);
    let project = open(folder.path()).unwrap();
    let script =
        "import { notes } from '@capabilities/notes';\nconsole.log('never'); await notes.create({ title: 'x' })";
    let refused = |space| match prepare(&project, space, script) {
        Err(PrepareError::Script(error)) => error,
        other => panic!("{:?}", other.map(|_| ())),
    };
    let error = refused(Some("plain"));
    assert_eq!(error.code, "import.denied");
    assert!(error.message.contains("'@capabilities/notes'"), "{error}");
    let hint = error.hint.unwrap();
    assert!(hint.ends_with("$.spaces.plain.capabilities: add \"./tools/notes.json\""), "{hint}");
    assert!(refused(None).hint.unwrap().ends_with("$.capabilities.global: add \"./tools/notes.json\""));
    // A missing module is unknown rather than denied, and no ungranted name is suggested.
    let script = "import { note } from '@capabilities/note'; note";
    let Err(PrepareError::Script(error)) = prepare(&project, Some("plain"), script) else { panic!() };
    assert_eq!(error.code, "import.unknown");
    assert!(!format!("{:?}", error.hint).contains("capabilities/notes"), "{:?}", error.hint);
}

/// An unknown capability is named, with the nearest that there is.
#[test]
fn an_unknown_entry_of_a_space_is_named() {
    let config = CONFIG.replace("\"./tools/notes.json\"", "\"@company/internal-sdk\", \"mcp:slak\"");
    let folder = project(&[("agent-spaces.config.json", &config), ("tools/weather.json", WEATHER)]);
    let project_of = open(folder.path()).unwrap();
    let error = project_of.space(Some("desk")).err().unwrap().to_string();
    assert!(error.contains("$.spaces.desk.capabilities[0]: there is no capability `@company/internal-sdk`"), "{error}");
    assert!(project_of.space(Some("dsek")).err().unwrap().to_string().contains("Did you mean `desk`?"));

    let missing = CONFIG.replace("./tools/notes.json", "./tools/nots.json");
    let folder = project(&[("agent-spaces.config.json", &missing), ("tools/weather.json", WEATHER)]);
    let error = open(folder.path()).err().unwrap();
    assert!(error.contains("./tools/nots.json") && error.contains("which does not exist"), "{error}");
}

/// Every issue with its path, and no provider is called. Defaults are there when one is.
#[tokio::test]
async fn parameters_are_validated_and_defaulted_before_the_provider() {
    let (space, calls) = recorded(WEATHER);
    let caught = "import { weather } from '@capabilities/weather';
        const attempt = (params) => weather.getForecast(params).then(() => 'taken', (e) => ({ code: e.code, ...e.details }));
        export default [await attempt({ city: 'U', days: 99 }), await attempt({ days: 'x', cty: 1 }), await attempt(null),
            await attempt({ city: 'Ulm', unit: 'kelvin' }), await attempt({ city: 'Ulm', days: null })]";
    let program = space.prepare("agent.js", caught).unwrap();
    let outcomes = value(&program).await;
    let paths = |outcome: &Value| -> Vec<String> {
        let issues = outcome["issues"].as_array().unwrap();
        issues.iter().map(|issue| issue["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(outcomes.as_array().unwrap().len(), 5);
    for outcome in outcomes.as_array().unwrap() {
        assert_eq!(outcome["code"], "call.invalid", "{outcomes:#}");
    }
    assert_eq!(paths(&outcomes[0]), ["city", "days"]);
    assert_eq!(paths(&outcomes[1]), ["cty", "city", "days"]);
    assert_eq!(paths(&outcomes[3]), ["unit"]);
    assert_eq!(paths(&outcomes[4]), ["days"]);
    assert!(calls.lock().unwrap().is_empty());

    let script = "import { weather } from '@capabilities/weather';
        export default [await weather.getForecast({ city: 'Ulm', note: null }), await weather.getForecast({ city: 'Ulm', days: 1 })]";
    let program = space.prepare("agent.js", script).unwrap();
    assert_eq!(value(&program).await[0], json!([{ "high": 21.5, "source": "station" }]));
    let seen = calls.lock().unwrap().clone();
    assert_eq!(
        seen[0],
        json!({ "name": "get_forecast", "params": { "city": "Ulm", "note": null, "days": 3, "unit": "celsius" } })
    );
    assert_eq!(seen[1]["params"], json!({ "city": "Ulm", "days": 1, "unit": "celsius" }));
}

/// A grant that is taken back holds for scripts that are running.
#[tokio::test]
async fn a_revoked_grant_refuses_calls_at_once() {
    let (space, calls) = recorded(WEATHER);
    let script = "import { weather } from '@capabilities/weather';
        export default await weather.getForecast({ city: 'Ulm' }).catch((error) => error.code)";
    let program = space.prepare("agent.js", script).unwrap();
    assert!(value(&program).await.is_array());
    assert!(space.grants().revoke("capabilities:weather/weather@1.0.0"));
    assert_eq!(value(&program).await, "call.denied");
    assert_eq!(calls.lock().unwrap().len(), 1);
}

/// A host calls the same functions through the same steps.
#[tokio::test]
async fn a_host_calls_through_the_same_pipeline() {
    let (space, calls) = recorded(WEATHER);
    let call = |params: Value| TypedCall::<Value>::new("weather", "getForecast", &params).unwrap();
    let answer = space.call(call(json!({ "city": "Ulm" }))).await.unwrap();
    assert_eq!(answer, json!([{ "high": 21.5, "source": "station" }]));
    assert_eq!(calls.lock().unwrap()[0]["params"]["days"], 3);
    assert_eq!(space.call(call(json!({}))).await.unwrap_err().code, "call.invalid");
    let unknown = TypedCall::<Value>::new("weather", "getForcast", &json!({})).unwrap();
    assert_eq!(space.call(unknown).await.unwrap_err().code, "call.denied");
}

/// `.ts` configurations are evaluated where they can reach nothing.
#[tokio::test]
async fn a_configuration_in_typescript_is_evaluated_in_the_sandbox() {
    let config = "const tools: string[] = ['weather'];
        export default { capabilities: { global: tools.map((name) => `./tools/${name}.json`) } };";
    let folder = project(&[("agent-spaces.config.ts", config), ("tools/weather.json", WEATHER)]);
    let project_of = open(folder.path()).unwrap();
    assert_eq!(project_of.space(None).unwrap().given.len(), 1);

    for (config, expected) in [
        ("import { readFileSync } from 'node:fs'; export default readFileSync('x')", "Cannot find module 'node:fs'"),
        ("export default { capabilites: {} }", "did you mean `capabilities`?"),
        ("throw new Error('no')", "agent-spaces.config.ts:1:7: no"),
    ] {
        let folder = project(&[("agent-spaces.config.ts", config)]);
        let error = open(folder.path()).err().unwrap();
        assert!(error.contains(expected), "{config}: {error}");
    }
    let endless = project(&[("agent-spaces.config.ts", "for (;;);")]);
    let error = open(endless.path()).err().unwrap();
    // On a busy machine the time is up before the fuel is.
    assert!(error.contains("fuel") || error.contains("took longer than"), "{error}");
}

/// The same definitions give the same bytes, and a second build writes nothing.
#[test]
fn builds_are_deterministic_and_incremental() {
    let folder = project(FILES);
    let project_of = open(folder.path()).unwrap();
    let first = build(folder.path(), project_of.definitions(), Scope::Whole, |_| {}).unwrap();
    let bundle = folder.path().join(".agent-spaces/capabilities/weather");
    for file in ["index.js", "index.d.ts", "schema.json", "weather.wit", "bundle.json"] {
        assert!(bundle.join(file).is_file(), "{file}");
    }
    assert_eq!(first.modules.len(), 2);
    assert!(build(folder.path(), project_of.definitions(), Scope::Whole, |_| {}).unwrap().written.is_empty());

    // Modified output is regenerated.
    let declarations = fs::read(bundle.join("index.d.ts")).unwrap();
    fs::write(bundle.join("index.d.ts"), "changed").unwrap();
    let mended = build(folder.path(), project_of.definitions(), Scope::Whole, |_| {}).unwrap();
    assert_eq!(mended.written, [".agent-spaces/capabilities/weather/index.d.ts"]);
    assert_eq!(fs::read(bundle.join("index.d.ts")).unwrap(), declarations);

    // Elsewhere, the same.
    let other = project(FILES);
    let again = build(other.path(), open(other.path()).unwrap().definitions(), Scope::Whole, |_| {}).unwrap();
    let hashes = |report: &agent_spaces::project::BuildReport| -> Vec<String> {
        report.modules.iter().map(|module| module.hash.clone()).collect()
    };
    assert_eq!(hashes(&first), hashes(&again));

    // A module that is gone takes its bundle with it, and nothing else.
    fs::write(bundle.join("mine.txt"), "").unwrap();
    let notes: Vec<_> =
        project_of.definitions().iter().filter(|definition| definition.path.ends_with("notes.json")).cloned().collect();
    build(folder.path(), &notes, Scope::Whole, |_| {}).unwrap();
    assert!(!bundle.join("index.js").exists() && bundle.join("mine.txt").exists());
}

/// A project's folder may come from anywhere: its record of the last build cannot make a build touch other files.
#[test]
fn a_forged_record_reaches_nothing_outside() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("index.js"), "precious").unwrap();
    let folder = project(FILES);
    let link = folder.path().join(".agent-spaces/capabilities/stale");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let escape = format!("@capabilities/../../..{}", outside.path().display());
    let record = json!({ "modules": {
        "@capabilities/stale": { "key": "", "hash": "", "functions": 1 },
        escape: { "key": "", "hash": "", "functions": 1 },
    } });
    fs::write(folder.path().join(".agent-spaces/capabilities/build.json"), record.to_string()).unwrap();
    let _ = build(folder.path(), open(folder.path()).unwrap().definitions(), Scope::Whole, |_| {});
    assert_eq!(fs::read_to_string(outside.path().join("index.js")).unwrap(), "precious");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

/// Two definitions of one name are refused, both places named.
#[test]
fn duplicates_are_refused_with_both_locations() {
    let folder = project(&[("a/weather.json", WEATHER), ("b/weather.json", WEATHER)]);
    let mut definitions = definitions_at(&folder.path().join("a"), &Outlines::none()).unwrap();
    definitions.extend(definitions_at(&folder.path().join("b"), &Outlines::none()).unwrap());
    let error = build(folder.path(), &definitions, Scope::Whole, |_| {}).unwrap_err().to_string();
    assert!(error.contains("a/weather.json") && error.contains("b/weather.json"), "{error}");
}

/// An outline is keyed by its source text.
#[test]
fn outlines_follow_their_definitions() {
    let folder = project(&[("tools/weather.json", WEATHER)]);
    let outlines = Outlines::in_folder(folder.path().join("cache"));
    let names = || {
        let definitions = definitions_at(&folder.path().join("tools"), &outlines).unwrap();
        let DefinitionBody::Module(module) = &definitions[0].body else { panic!() };
        module.outline.interfaces[0].functions.clone()
    };
    assert_eq!(names(), ["get-forecast"]);
    assert_eq!(names(), ["get-forecast"]);
    fs::write(folder.path().join("tools/weather.json"), WEATHER.replace("get_forecast", "get_weather")).unwrap();
    assert_eq!(names(), ["get-weather"]);
    // Whatever is in the cache, definitions are compiled from their text when they are used.
    let cached: Vec<_> = fs::read_dir(folder.path().join("cache")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!cached.is_empty(), "nothing was cached");
    for file in cached {
        fs::write(file, "not JSON").unwrap();
    }
    assert_eq!(names(), ["get-weather"]);
}

/// Calls that need approval are refused unless preapproved by the operator.
#[tokio::test]
async fn calls_that_need_approval_are_not_made_without_it() {
    let guarded =
        WEATHER.replace("\"name\": \"get_forecast\",", "\"name\": \"get_forecast\", \"requiresApproval\": true,");
    let script = "import { weather } from '@capabilities/weather';
        export default await weather.getForecast({ city: 'Ulm' }).then(() => 'done', (error) => error.code)";
    let (space, calls) = recorded(&guarded);
    let program = space.prepare("agent.js", script).unwrap();
    assert_eq!(value(&program).await, "call.approval_denied");
    assert!(calls.lock().unwrap().is_empty());
    space.approvals().approve(space.identify("weather.getForecast").unwrap());
    assert_eq!(value(&program).await, "done");

    // The capability's own setting covers its functions, unless one says otherwise.
    let all = WEATHER.replace(
        "\"description\": \"Weather\",",
        "\"description\": \"Weather\", \"config\": { \"requiresApproval\": true },",
    );
    let (space, _) = recorded(&all);
    assert_eq!(value(&space.prepare("agent.js", script).unwrap()).await, "call.approval_denied");
    let open = all.replace("\"name\": \"get_forecast\",", "\"name\": \"get_forecast\", \"requiresApproval\": false,");
    let (space, _) = recorded(&open);
    assert_eq!(value(&space.prepare("agent.js", script).unwrap()).await, "done");
}

/// A module that is imported for nothing but its functions' names is linked.
#[tokio::test]
async fn a_side_effect_import_links_functions_called_by_name() {
    let (space, _) = recorded(WEATHER);
    let script = "import '@capabilities/weather';
        export default await __agentSpaces.callCapability('weather', 'getForecast', { city: 'Ulm' })";
    let program = space.prepare("agent.js", script).unwrap();
    assert_eq!(value(&program).await, json!([{ "high": 21.5, "source": "station" }]));
}

/// A server's filters decide which of its tools are functions; one that is switched off has none.
#[test]
fn filters_choose_among_a_servers_tools() {
    let tools = r#"{ "tools": [{ "name": "read_file", "inputSchema": {} }, { "name": "write_file", "inputSchema": {} },
        { "name": "remove_all", "inputSchema": {} }] }"#;
    let functions = |settings: Value| -> Vec<String> {
        let mut server = json!({ "command": "x", "tools": "./files.json" });
        server.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let config = json!({ "mcpServers": { "files": server } }).to_string();
        let folder = project(&[("agent-spaces.config.json", &config), ("files.json", tools)]);
        let project = open(folder.path()).unwrap();
        let modules = project.definitions().iter().flat_map(|definition| match &definition.body {
            DefinitionBody::Module(module) => module.outline.interfaces[0].functions.clone(),
            DefinitionBody::Wit(_) => Vec::new(),
        });
        modules.collect()
    };
    assert_eq!(functions(json!({})).len(), 3);
    assert_eq!(functions(json!({ "toolFilters": { "deny": ["remove_all"] } })), ["read-file", "write-file"]);
    assert_eq!(functions(json!({ "toolFilters": { "allow": ["*_file"], "deny": ["write*"] } })), ["read-file"]);
    assert!(functions(json!({ "toolFilters": { "allow": [] } })).is_empty());
    assert!(functions(json!({ "enabled": false })).is_empty());
}

/// A promised list has array methods, and is otherwise an ordinary promise.
#[tokio::test]
async fn array_methods_work_on_a_promised_list() {
    let (space, _) = recorded(WEATHER);
    let script = "import { weather } from '@capabilities/weather';
        const list = () => weather.getForecast({ city: 'Ulm' });
        const promise = list();
        Array.prototype.map = () => 'polluted';
        Promise.prototype.then = ((then) => function (...all) { return then.apply(this, all); })(Promise.prototype.then);
        export default {
            chained: await list().concat([{ high: 1 }]).map((day) => day.high).filter((high) => high > 0).sort((a, b) => a - b),
            reduced: await list().reduce((sum, day) => sum + day.high, 1),
            found: (await list().find((day) => day.high > 100)) ?? null,
            at: (await list().at(-1)).high,
            joined: await list().map((day) => day.high).join('-'),
            isPromise: promise instanceof Promise && promise.constructor === Promise,
            thenIsPlain: typeof promise.then((days) => days).filter,
            raced: (await Promise.race([promise])).length,
            thrown: await list().map(() => { throw new Error('no'); }).catch((error) => error.message),
            refused: await weather.getForecast({}).filter(Boolean).catch((error) => error.code),
            own: Object.keys(promise).length,
        }";
    let program = space.prepare("agent.js", script).unwrap();
    assert_eq!(
        value(&program).await,
        json!({
            "chained": [1, 21.5], "reduced": 22.5, "found": null, "at": 21.5, "joined": "21.5", "isPromise": true,
            "thenIsPlain": "undefined", "raced": 1, "thrown": "no", "refused": "call.invalid", "own": 0,
        })
    );
}
