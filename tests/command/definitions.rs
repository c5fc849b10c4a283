//! Messages of `run`, `capabilities build` and `doctor` about definitions and their handlers.

use super::{agent_spaces_in, last_line};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const WORK: &str = "import { defineTool } from '@agent-spaces/capabilities';
import { format } from 'date-fns';
export const work = defineTool({
  functions: { day: { description: 'Today', parameters: {}, returns: 'string', handler: () => format(1) } },
});";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| write(folder.path(), path, text));
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Returns the warnings of a build, each as `file: place: message`.
fn warnings(folder: &Path, paths: &[&str]) -> Vec<String> {
    let output = agent_spaces_in(folder, &[&["capabilities", "build", "--json"], paths].concat(), "");
    let report = last_line(&output);
    assert_eq!((output.status.code(), &report["ok"]), (Some(0), &json!(true)), "{report}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown = |note: &Value| {
        let (file, path) = (text(&note["place"]["file"]), text(&note["place"]["path"]));
        format!("{file}: {path}: {}", text(&note["message"]))
    };
    report["notes"].as_array().unwrap().iter().map(shown).collect()
}

/// Returns the error of a script that does not run.
fn refusal(folder: &Path) -> String {
    String::from_utf8_lossy(&agent_spaces_in(folder, &["run", "-"], "1").stderr).into_owned()
}

#[test]
fn without_a_configuration_packages_are_found_beside_the_folder_capabilities() {
    let folder = folder(&[
        ("capabilities/work.ts", WORK),
        ("node_modules/date-fns/package.json", "{}"),
        ("node_modules/date-fns/index.js", "export const format = () => 'today'"),
    ]);
    write(folder.path(), "script.ts", "import { work } from '@capabilities/work'; await work.day({})");
    let report = last_line(&agent_spaces_in(folder.path(), &["run", "script.ts", "--json"], ""));
    assert_eq!(report["value"], "today", "{report}");

    // A definition elsewhere is a project of its own, and the message says how to include it.
    write(folder.path(), "tools/work.ts", WORK);
    let told = warnings(folder.path(), &["tools/work.ts"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("tools/work.ts: 2:24: ") && told[0].contains("Cannot find package 'date-fns'"),
        "{told:?}"
    );
    assert!(told[0].contains("installed in tools/..") && told[0].contains("agent-spaces.config.json"), "{told:?}");
    fs::remove_dir_all(folder.path().join("node_modules")).unwrap();
    let told = warnings(folder.path(), &[]);
    assert!(told[0].ends_with("run `npm install date-fns` in the project's folder"), "{told:?}");
}

#[test]
fn a_build_warns_of_invalid_handlers() {
    let definition = r#"{ "name": "orders", "functions": [{ "name": "get_order" }, { "name": "listOrders" }, { "name": "cancel" }] }"#;
    let folder = folder(&[("capabilities/orders.json", definition)]);
    let told = |handlers: &str| {
        write(folder.path(), "capabilities/orders.ts", handlers);
        warnings(folder.path(), &[])
    };
    let all = "export const getOrder = () => 1; export function listOrders() {} export { a as cancel } from './a';";
    write(folder.path(), "capabilities/a.ts", "export const a = () => 1;");
    assert_eq!(told(all), [""; 0]);
    assert_eq!(told(&all.replace("getOrder", "get_order")), [""; 0], "by the source's name");
    assert_eq!(
        told("export const getOrder = () => 1;\nexport function listOrder() {}\nexport type cancel = 1;"),
        [
            "capabilities/orders.ts: exports: `listOrders` has no handler: the file exports no such function; \
             did you mean its export `listOrder`? Rename it",
            "capabilities/orders.ts: exports: `cancel` has no handler: the file exports no such function; \
             add `export async function cancel(params) { … }`",
        ]
    );
    for (handlers, place, fault) in [
        ("export const getOrder = (", "1:26", "Expected"),
        ("import { x } from 'left-pad'; x;", "1:19", "Cannot find package 'left-pad'"),
        ("import fs from 'node:fs'; fs;", "1:16", "'node:fs' is a Node.js module"),
        ("import { b } from './b'; b;", "1:19", "./b"),
    ] {
        let told = told(handlers);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with(&format!("capabilities/orders.ts: {place}: its functions cannot be called: ")),
            "{told:?}"
        );
        assert!(told[0].contains(fault), "{told:?}");
    }
}

#[test]
fn colliding_function_names_are_reported_with_their_new_names() {
    let definition = r#"{ "name": "users", "functions": [{ "name": "getUser" }, { "name": "get_user" }] }"#;
    let folder = folder(&[("capabilities/users.json", definition)]);
    assert_eq!(
        warnings(folder.path(), &[]),
        ["capabilities/users.json: $: `getUser` and `get_user` would have one name in scripts, so `get_user` is \
          `getUserXbf1e2a1a` there"]
    );
}

#[test]
fn an_unknown_entry_is_reported_with_location_and_suggestion() {
    let pets = r#"{ "openapi": "3.1.0", "paths": { "/pets": { "get": { "operationId": "listPets" } } } }"#;
    let folder = folder(&[("capabilities/orders.ts", WORK), ("capabilities/pets.json", pets)]);
    for (config, place, told) in [
        (
            json!({ "capabilities": { "global": ["./capabilities/order.ts"] } }),
            "$.capabilities.global[0]",
            "Did you mean `./capabilities/orders.ts`?",
        ),
        (
            json!({ "spaces": { "desk": { "capabilities": ["./capabilities/pets", "./capabilities/pet"] } } }),
            "$.spaces.desk.capabilities[1]",
            "Did you mean `./capabilities/pets.json`?",
        ),
        (
            json!({ "capabilities": { "registry": { "@company/x": "./capabilites/orders.ts" } } }),
            "$.capabilities.registry[\"@company/x\"]",
            "Did you mean `./capabilities/orders.ts`?",
        ),
        (
            json!({ "capabilities": { "global": ["@capabilities/orders"] } }),
            "$.capabilities.global[0]",
            "It is in `./capabilities/orders.ts`: write that path here instead",
        ),
        (
            json!({ "capabilities": { "global": ["./capabilities/pets.json", { "path": "./capabilities/pets.json", "operations": ["listPets"] }] } }),
            "$.capabilities.global[1]",
            "capabilities/pets.json is listed at $.capabilities.global[0] too, with other `operations`",
        ),
        (
            json!({ "capabilities": { "global": [{ "path": "./capabilities/orders.ts", "operations": ["day"] }] } }),
            "capabilities/orders.ts",
            "\"operations\" selects operations of an OpenAPI document, and this is not one",
        ),
    ] {
        write(folder.path(), "agent-spaces.config.json", &config.to_string());
        let said = refusal(folder.path());
        assert!(said.contains(&format!("{place}: ")) && said.contains(told), "{config}: {said}");
        assert!(!said.contains("npm install"), "nobody's package has our scope: {said}");
    }
}

#[test]
fn doctor_reports_an_untrusted_compiler_setting() {
    let config = r#"{ "codeMode": { "typescript": "./tsc" } }"#;
    let folder = folder(&[("agent-spaces.config.json", config)]);
    let output = agent_spaces_in(folder.path(), &["doctor"], "");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.contains("TypeScript")).unwrap();
    assert!(
        line.contains(
            "`codeMode.typescript` is ignored until the configuration is accepted: run `agent-spaces trust \
             agent-spaces.config.json`"
        ),
        "{line}"
    );
    assert!(!line.contains("name it in"), "{line}");
}
