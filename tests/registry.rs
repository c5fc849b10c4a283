//! Registry, bundles and function specifications of a project.

use agent_spaces::project::{
    FunctionSpecification, Outlines, Project, Scope, build, definitions_at, registered_servers, registry,
};
use agent_spaces::{Caller, Engine, EngineConfig};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use wit_parser::Resolve;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn open(folder: &TempDir) -> (Engine, Project) {
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let config = folder.path().join("agent-spaces.config.json");
    let project = Project::open(&config, &engine, &Outlines::none()).unwrap();
    (engine, project)
}

const WEATHER: &str = r#"{
    "name": "weather", "version": "2.1.0", "owner": "sky team", "tags": ["weather"],
    "functions": [
        { "name": "now", "tags": ["external_api"] },
        { "name": "delete_station", "config": { "scopes": ["stations:write"] } }
    ]
}"#;

const STATION: &str = "package capabilities:station@1.3.0;
interface station {
  use agent-spaces:host/types@0.1.0.{capability-error};
  next-train: async func() -> result<list<u32>, capability-error>;
}
";

fn project() -> TempDir {
    folder(&[
        ("capabilities/weather.json", WEATHER),
        ("capabilities/weather.ts", "export const now = () => 1; export const deleteStation = () => 2;"),
        ("capabilities/station.wit", STATION),
        ("capabilities/station.ts", "export const nextTrain = () => [1];"),
        (
            "agent-spaces.config.json",
            r#"{
                "capabilities": { "global": ["./capabilities", "@company/sdk"] },
                "mcpServers": { "slack": { "command": "npx", "args": ["-y", "slack-mcp"],
                    "env": { "SLACK_TOKEN": "${SLACK_TOKEN}", "PLAIN": "hunter2-hunter2" } } },
                "spaces": { "support": { "capabilities": [] } },
                "policy": { "functions": { "weather.now": "deny" } }
            }"#,
        ),
        (
            "node_modules/@company/sdk/package.json",
            r#"{ "name": "@company/sdk", "version": "4.5.6", "main": "index.js",
                "dependencies": { "zod": "^4.0.0", "date-fns": "3.1.0" } }"#,
        ),
        (
            "node_modules/@company/sdk/index.js",
            "import { defineTool } from '@agent-spaces/capabilities';
             export const crm = defineTool({ name: 'crm', tags: ['sales'], functions: { find: { handler: () => 1 } } });",
        ),
    ])
}

#[test]
fn the_registry_has_the_documented_shape() {
    let folder = project();
    let (_, project) = open(&folder);
    build(folder.path(), project.definitions(), Scope::Whole, |_| {}).unwrap();
    let entries = registry(folder.path(), project.definitions()).unwrap();
    let find = |name: &str| json!(entries.iter().find(|entry| entry.name == name).unwrap());
    let weather = find("weather");
    assert_eq!(
        (&weather["version"], &weather["source"], &weather["owner"]),
        (&json!("2.1.0"), &json!("tool"), &json!("sky team"))
    );
    assert_eq!(weather["bundle"], ".agent-spaces/capabilities/weather");
    let now = &weather["schema"]["functions"][0];
    assert_eq!((&now["owner"], &now["implementation"]), (&json!("sky team"), &json!("typescript")));
    assert_eq!(now["tags"], json!(["weather", "external_api"]));
    let crm = find("crm");
    assert_eq!((&crm["version"], &crm["source"]), (&json!("4.5.6"), &json!("sdk")), "the package's own");
    assert_eq!(crm["dependencies"], json!(["date-fns@3.1.0", "zod@^4.0.0"]));
    let station = find("station");
    assert_eq!((&station["version"], &station["source"]), (&json!("1.3.0"), &json!("tool")));
    assert_eq!(station["schema"]["functions"][0]["id"], "station.nextTrain");
    let servers = registered_servers(project.servers().values().map(|server| &**server));
    assert_eq!((&servers["slack"]["command"], &servers["slack"]["args"][1]), (&json!("npx"), &json!("slack-mcp")));
    assert_eq!(servers["slack"]["env"]["SLACK_TOKEN"], "${SLACK_TOKEN}");
    assert!(!servers.to_string().contains("hunter2"), "{servers}");
}

#[test]
fn bundles_have_kind_and_dependencies() {
    let folder = project();
    let (_, project) = open(&folder);
    build(folder.path(), project.definitions(), Scope::Whole, |_| {}).unwrap();
    let bundles = folder.path().join(".agent-spaces/capabilities");
    let metadata = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(bundles.join(path).join("bundle.json")).unwrap()).unwrap()
    };
    let sdk = metadata("@company/sdk");
    assert_eq!((&sdk["source"], &sdk["version"]), (&json!("sdk"), &json!("4.5.6")));
    assert_eq!(sdk["dependencies"], json!(["@agent-spaces/runtime", "date-fns@3.1.0", "zod@^4.0.0"]));
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(bundles.join("weather/schema.json")).unwrap()).unwrap();
    let now = &schema["capabilities"][0]["functions"][0];
    assert_eq!((&now["owner"], &now["implementation"]), (&json!("sky team"), &json!("typescript")));
    // A tool for WIT takes each folder as it is.
    for module in ["weather", "station", "@company/sdk"] {
        let mut resolve = Resolve::default();
        resolve.push_dir(bundles.join(module)).unwrap_or_else(|error| panic!("{module}: {error:#}"));
    }
    assert_eq!(metadata("station")["version"], "1.3.0");
    let declared = std::fs::read_to_string(bundles.join("station/index.d.ts")).unwrap();
    assert!(declared.contains("nextTrain(): Promise<number[]>;"), "{declared}");
    let again = build(folder.path(), project.definitions(), Scope::Whole, |_| {}).unwrap();
    assert_eq!((again.written, again.removed), (Vec::new(), Vec::new()));
}

#[test]
fn a_handwritten_module_replaces_the_generated_one() {
    let folder = folder(&[("capabilities/weather.json", WEATHER)]);
    let load = || definitions_at(&folder.path().join("capabilities"), &Outlines::none()).unwrap();
    build(folder.path(), &load(), Scope::Whole, |_| {}).unwrap();
    std::fs::remove_file(folder.path().join("capabilities/weather.json")).unwrap();
    let wit = "package capabilities:weather@1.0.0; interface weather { now: async func() -> result<u32, string>; }";
    std::fs::write(folder.path().join("capabilities/weather.wit"), wit).unwrap();
    build(folder.path(), &load(), Scope::Whole, |_| {}).unwrap();
    let bundle = folder.path().join(".agent-spaces/capabilities/weather");
    for gone in ["index.js", "schema.json", "deps/agent-spaces-host.wit"] {
        assert!(!bundle.join(gone).exists(), "{gone}");
    }
    assert!(bundle.join("index.d.ts").is_file());
    std::fs::remove_file(folder.path().join("capabilities/weather.wit")).unwrap();
    std::fs::write(folder.path().join("capabilities/other.json"), WEATHER).unwrap();
    build(folder.path(), &load(), Scope::Whole, |_| {}).unwrap();
    assert!(!bundle.exists());
}

fn names(found: &[FunctionSpecification]) -> Vec<&str> {
    found.iter().map(|one| one.function.as_str()).collect()
}

#[test]
fn only_callable_functions_are_advertised() {
    let folder = project();
    let (engine, project) = open(&folder);
    let modules = project.space(Some("support")).unwrap();
    let all = modules.specifications().unwrap();
    assert_eq!(names(&all), ["station.nextTrain", "weather.now", "weather.deleteStation", "crm.find"]);
    let now = all.iter().find(|one| one.function == "weather.now").unwrap();
    assert_eq!(now.id.to_string(), "capabilities:weather/weather@2.1.0#now");
    assert_eq!(
        (now.owner.as_deref(), &now.tags[..]),
        (Some("sky team"), &["weather".into(), "external_api".into()][..])
    );
    let space = modules.assemble(&engine).unwrap();
    let advertised = modules.advertised(&space, &Caller::default()).unwrap();
    assert_eq!(names(&advertised), ["station.nextTrain", "crm.find"], "denied, and a scope that nobody has");
    let scopes = ["stations:write".to_owned()].into();
    let advertised = modules.advertised(&space, &Caller { scopes, ..Caller::default() }).unwrap();
    assert_eq!(names(&advertised), ["station.nextTrain", "weather.deleteStation", "crm.find"]);
}

#[test]
fn colliding_names_are_refused_with_both_files() {
    let tool = |name: &str| format!(r#"{{ "name": "{name}", "functions": [{{ "name": "x" }}] }}"#);
    let load = |files: &[(&str, &str)]| {
        let folder = folder(files);
        definitions_at(Path::new(&folder.path().join("capabilities")), &Outlines::none()).map(|_| ()).unwrap_err()
    };
    let (camel, snake) = (tool("myTools"), tool("my_tools"));
    let said = load(&[("capabilities/one.json", &camel), ("capabilities/two.json", &snake)]).to_string();
    assert!(said.contains("one.json") && said.contains("two.json"), "{said}");
    assert!(said.contains("`myTools`") && said.contains("`my_tools`"), "{said}");
    let wit = "package capabilities:hand@1.0.0; interface my-tools { x: async func() -> result<u32, string>; }";
    let said = load(&[("capabilities/one.json", &camel), ("capabilities/hand.wit", wit)]).to_string();
    assert!(said.contains("one.json") && said.contains("hand.wit"), "{said}");
}

/// A large document: what the configuration selects of it is there, and the rest is not.
#[test]
fn only_selected_openapi_operations_become_functions() {
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "Pets", "version": "1.0.0" },
        "paths": {
            "/pets": { "get": { "operationId": "listPets", "tags": ["pets"] } },
            "/stores": { "get": { "operationId": "listStores" } },
        },
    });
    let config = |operations: Value| {
        json!({ "capabilities": { "global": [{ "path": "./pets.json", "operations": operations }] } }).to_string()
    };
    let chosen =
        folder(&[("pets.json", &document.to_string()), ("agent-spaces.config.json", &config(json!(["tag:pets"])))]);
    let (_, project) = open(&chosen);
    let found = project.definitions()[0].specifications().unwrap();
    assert_eq!(names(&found), ["pets.listPets"]);
    assert_eq!(found[0].tags, ["pets"]);
    let wrong =
        folder(&[("pets.json", &document.to_string()), ("agent-spaces.config.json", &config(json!(["listPetz"])))]);
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let file = wrong.path().join("agent-spaces.config.json");
    let said = Project::open(&file, &engine, &Outlines::none()).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("pets.json") && said.contains("Did you mean \"listPets\"?"), "{said}");
}
