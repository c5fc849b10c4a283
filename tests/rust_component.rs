//! Component providers: the Rust example, and failing ones.

use crate::spec_examples::Built;
use agent_spaces::Space;
use agent_spaces::project::{Project, ProjectError, Surroundings};
use agent_spaces_tests::{engine, value};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/rust-component");

const DEFINITION: &str = r#"{ "name": "fragile", "description": "Fails", "component": "../fragile.wasm", "functions": [
    { "name": "go", "description": "Go", "parameters": {}, "returns": { "type": "string" } } ] }"#;

const CONFIG: &str = r#"{
    "capabilities": { "global": ["./capabilities/fragile.json"] },
    "providers": { "@capabilities/fragile": { "limits": { "fuel": "10M", "memory": "8MiB" } } }
}"#;

/// Returns the results of two sequential calls.
const TWO_CALLS: &str = "import { fragile } from '@capabilities/fragile';
    const call = () => fragile.go().catch((error) => [error instanceof CapabilityError, error.code, error.message]);
    export default [await call(), await call()];";

/// A space of the folder's configuration, which its user has accepted or not.
fn space(folder: &Path, is_accepted: bool) -> Result<Space, String> {
    let text = |error: ProjectError| error.to_string();
    let user_folder = is_accepted.then(|| folder.to_owned());
    let surroundings = Surroundings { user_folder, ..Surroundings::default() };
    let file = folder.join("agent-spaces.config.json");
    let project = Project::open_in(&file, &engine(), &surroundings).map_err(text)?;
    project.space(None).and_then(|modules| modules.assemble(&engine())).map_err(text)
}

/// A component that exports one function, called `name`, with this body; `parts` stand before it in its core module.
fn component(name: &str, body: &str, parts: &str) -> Vec<u8> {
    typed(name, "() -> result<string, capability-error>", body, parts)
}

/// The same, of a type whose results go through memory.
fn typed(name: &str, ty: &str, body: &str, parts: &str) -> Vec<u8> {
    let wit = format!(
        "package capabilities:fragile@1.0.0;
        interface unknown {{ ask: func(); }}
        interface fragile {{
            use agent-spaces:host/types@0.1.0.{{capability-error}};
            {name}: async func{ty};
        }}
        world component {{ import unknown; export fragile; }}"
    );
    let mut resolve = Resolve::default();
    resolve.push_str("host.wit", include_str!("../wit/host.wit")).unwrap();
    let package = resolve.push_str("fragile.wit", &wit).unwrap();
    let world = resolve.select_world(&[package], None).unwrap();
    let mut module = wat::parse_str(format!(
        r#"(module {parts} (memory (export "memory") 1) (data (i32.const 64) "limit.fuel")
            (func (export "capabilities:fragile/fragile@1.0.0#{name}") (result i32) {body}))"#
    ))
    .unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

fn project(component: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("capabilities")).unwrap();
    fs::write(folder.path().join("capabilities/fragile.json"), DEFINITION).unwrap();
    fs::write(folder.path().join("agent-spaces.config.json"), CONFIG).unwrap();
    fs::write(folder.path().join("fragile.wasm"), component).unwrap();
    folder
}

#[tokio::test]
async fn the_example_component_answers() {
    let script = fs::read_to_string(format!("{EXAMPLE}/agent.ts")).unwrap();
    let answer = value(&space(Path::new(EXAMPLE), true).unwrap(), &script).await;
    assert_eq!(answer["name"], "row-row-row-your-boat");
    assert_eq!(answer["often"], json!([{ "word": "merrily", "count": 4 }, { "word": "row", "count": 3 }]));
    assert_eq!(answer["refusal"], "The text has no word to make a name of: {\"characters\":2}");
}

/// Copies in the example, and its documentation, must match the originals.
#[test]
fn the_examples_copies_are_up_to_date() {
    let read = |file: &str| fs::read_to_string(format!("{EXAMPLE}/{file}")).unwrap();
    assert_eq!(read("component/wit/text.wit"), Built::of("rust-component").read("text", "text.wit"));
    assert_eq!(read("component/wit/deps/host.wit"), include_str!("../wit/host.wit"));
    let hash = HEXLOWER.encode(&Sha256::digest(fs::read(format!("{EXAMPLE}/text.wasm")).unwrap()));
    assert!(read("README.md").contains(&hash), "{hash}");
}

#[tokio::test]
async fn a_component_gets_variables_only_if_trusted() {
    let script = "import { text } from '@capabilities/text';
        export default (await text.countWords({ text: 'the boat' })).words.map(({ word }) => word)";
    for (is_accepted, words) in [(true, json!(["boat"])), (false, json!(["boat", "the"]))] {
        assert_eq!(value(&space(Path::new(EXAMPLE), is_accepted).unwrap(), script).await, words, "{is_accepted}");
    }
}

/// The host goes on, and the next call has an instance of its own.
#[tokio::test]
async fn a_component_failure_is_an_error_of_its_call() {
    let grow = "(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    // The discriminant of an error, and a code of the host's own.
    let forge = "(i32.store (i32.const 0) (i32.const 1)) (i32.store (i32.const 4) (i32.const 64))
        (i32.store (i32.const 8) (i32.const 10)) (i32.const 0)";
    for (body, expected) in [
        ("unreachable", "unreachable"),
        ("(loop (br 0)) unreachable", "Its handler failed: it used all of its 10000000 units of fuel"),
        (grow, "memory"),
        ("(i32.store (i32.const 0) (i32.const 9)) (i32.const 0)", "discriminant"),
        (forge, ""),
    ] {
        let folder = project(&component("go", body, ""));
        let answer = value(&space(folder.path(), true).unwrap(), TWO_CALLS).await;
        for call in [&answer[0], &answer[1]] {
            assert_eq!((&call[0], &call[1]), (&Value::Bool(true), &json!("call.failed")), "{body}: {answer}");
            assert!(call[2].as_str().unwrap().contains(expected), "{body}: {answer}");
        }
    }
}

#[test]
fn an_invalid_component_is_refused_when_its_space_is_created() {
    let import = r#"(import "capabilities:fragile/unknown@1.0.0" "ask" (func))"#;
    for (component, expected) in [
        (component("went", "unreachable", ""), "does not export the function `go`"),
        (component("go", "unreachable", import), "capabilities:fragile/unknown@1.0.0"),
        (typed("go", "() -> result<u32, capability-error>", "unreachable", ""), "does not have the type"),
        (typed("go", "() -> result<string>", "unreachable", ""), "does not have the type"),
        (typed("go", "() -> tuple<string, string>", "unreachable", ""), "does not have the type"),
        (b"\0asm\x01\0\0\0".to_vec(), "component"),
    ] {
        let folder = project(&component);
        let message = space(folder.path(), true).err().expect("it is refused");
        assert!(message.contains("fragile.wasm") && message.contains(expected), "{message}");
    }
}
