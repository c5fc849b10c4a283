//! Checked-in engine: recorded hash, and an exact list of imports and exports.

use agent_spaces::{ENGINE_SHA256, ENGINE_VERSION, ENGINE_WASM, Engine, EngineConfig, Origin, WASMTIME_VERSION};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use wasmparser::{Parser, Payload, TypeRef, Validator};

const RECORD: &str = include_str!("../guest-js/prebuilt/engine.json");
const SBOM: &str = include_str!("../guest-js/prebuilt/engine.cdx.json");
const CHECKED_IN: &[u8] = include_bytes!("../guest-js/prebuilt/engine.wasm");

/// Everything that the engine asks of whoever instantiates it: scalars of the clock, randomness and fuel,
/// and the component model's own functions for waiting and for giving up.
const IMPORTS: [&str; 9] = [
    "$root [subtask-cancel]",
    "$root [subtask-drop]",
    "$root [waitable-join]",
    "$root [waitable-set-new]",
    "agent-spaces:engine/clock@0.1.0 monotonic",
    "agent-spaces:engine/clock@0.1.0 now",
    "agent-spaces:engine/meter@0.1.0 note",
    "agent-spaces:engine/meter@0.1.0 refill",
    "agent-spaces:engine/random@0.1.0 get-u64",
];

/// Exports that a binding needs, and nothing that a guest could misuse.
const EXPORTS: [&str; 13] = [
    "BINDING_DATA",
    "__indirect_function_table",
    "__stack_pointer",
    "agent_spaces_embed",
    "agent_spaces_lift",
    "agent_spaces_lower",
    "agent_spaces_meter_left",
    "agent_spaces_meter_note",
    "agent_spaces_run",
    "agent_spaces_run_callback",
    "cabi_realloc",
    "js_compiled_layout",
    "memory",
];

/// The canonical ABI between the engine and a binding: each begins with `wit_dylib_`.
const ABI: [&str; 61] = [
    "dealloc_bytes",
    "export_async_call",
    "export_async_callback",
    "export_call",
    "export_finish",
    "export_start",
    "initialize",
    "list_append",
    "pop_bool",
    "pop_borrow",
    "pop_char",
    "pop_enum",
    "pop_f32",
    "pop_f64",
    "pop_flags",
    "pop_future",
    "pop_iter",
    "pop_iter_next",
    "pop_list",
    "pop_option",
    "pop_own",
    "pop_record",
    "pop_result",
    "pop_s16",
    "pop_s32",
    "pop_s64",
    "pop_s8",
    "pop_stream",
    "pop_string",
    "pop_tuple",
    "pop_u16",
    "pop_u32",
    "pop_u64",
    "pop_u8",
    "pop_variant",
    "push_bool",
    "push_borrow",
    "push_char",
    "push_enum",
    "push_f32",
    "push_f64",
    "push_flags",
    "push_future",
    "push_list",
    "push_option",
    "push_own",
    "push_record",
    "push_result",
    "push_s16",
    "push_s32",
    "push_s64",
    "push_s8",
    "push_stream",
    "push_string",
    "push_tuple",
    "push_u16",
    "push_u32",
    "push_u64",
    "push_u8",
    "push_variant",
    "resource_dtor",
];

#[test]
fn the_hash_matches_the_record() {
    let sha256 = HEXLOWER.encode(&Sha256::digest(ENGINE_WASM));
    assert_eq!(sha256, ENGINE_SHA256);
    let record: serde_json::Value = serde_json::from_str(RECORD).expect("engine.json is JSON");
    assert_eq!(record["sha256"], sha256.as_str());
    assert_eq!(record["bytes"], ENGINE_WASM.len());
    assert_eq!(record["file"], "engine.wasm");
    assert!(CHECKED_IN == ENGINE_WASM, "the library holds another engine than the one that is checked in");
}

/// The version is the same in the library, the record and the SBOM.
#[test]
fn the_version_matches_the_record() {
    let record: serde_json::Value = serde_json::from_str(RECORD).expect("engine.json is JSON");
    assert_eq!(record["quickjs-ng"], ENGINE_VERSION);
    let sbom: serde_json::Value = serde_json::from_str(SBOM).expect("the SBOM is JSON");
    let components = sbom["components"].as_array().expect("it lists components");
    let quickjs = components.iter().find(|component| component["name"] == "quickjs-ng").expect("QuickJS is listed");
    assert_eq!(quickjs["version"], ENGINE_VERSION);
}

/// The record says how to build it again.
#[test]
fn the_record_names_the_tools() {
    let record: serde_json::Value = serde_json::from_str(RECORD).expect("engine.json is JSON");
    assert!(record["tools"].as_object().is_some_and(|tools| !tools.is_empty()), "{record}");
}

#[test]
fn the_module_is_valid() {
    Validator::new().validate_all(ENGINE_WASM).expect("a valid module");
}

#[test]
fn it_imports_exactly_these_functions() {
    let mut imports = BTreeSet::new();
    for payload in Parser::new(0).parse_all(ENGINE_WASM) {
        let Payload::ImportSection(section) = payload.expect("a module") else { continue };
        for import in section.into_imports() {
            let import = import.expect("an import");
            assert!(matches!(import.ty, TypeRef::Func(_)), "{} {} is no function", import.module, import.name);
            imports.insert(format!("{} {}", import.module, import.name));
        }
    }
    assert_eq!(imports.iter().map(String::as_str).collect::<Vec<_>>(), IMPORTS);
    assert!(!imports.iter().any(|import| import.contains("wasi")), "{imports:?}");
}

#[test]
fn it_exports_exactly_these_items() {
    let mut exports = BTreeSet::new();
    for payload in Parser::new(0).parse_all(ENGINE_WASM) {
        let Payload::ExportSection(section) = payload.expect("a module") else { continue };
        for export in section {
            exports.insert(export.expect("an export").name.to_owned());
        }
    }
    let (abi, rest): (Vec<&str>, Vec<&str>) =
        exports.iter().map(String::as_str).partition(|name| name.starts_with("wit_dylib_"));
    assert_eq!(rest, EXPORTS);
    assert_eq!(abi, ABI.map(|name| format!("wit_dylib_{name}")));
}

/// The snapshot was taken: there is nothing left to start.
#[test]
fn it_has_no_start_function_and_one_memory() {
    let mut memories = 0;
    for payload in Parser::new(0).parse_all(ENGINE_WASM) {
        match payload.expect("a module") {
            Payload::StartSection { .. } => panic!("the engine has a start function"),
            Payload::MemorySection(section) => memories += section.count(),
            _ => {}
        }
    }
    assert_eq!(memories, 1);
}

#[test]
fn the_first_start_compiles_nothing() {
    let config = EngineConfig { max_runs: 1, ..EngineConfig::default() };
    let (_, origin) = Engine::with_origin(config, |_| panic!("the engine is compiled at a first start")).unwrap();
    assert_eq!(origin, Origin::Precompiled);
}

#[test]
fn native_code_of_another_configuration_is_not_loaded() {
    let config = EngineConfig { max_runs: 1, wasmtime_fuel: true, ..EngineConfig::default() };
    let mut told = None;
    let (_, origin) = Engine::with_origin(config, |origin| told = Some(origin)).unwrap();
    assert_eq!((origin, told), (Origin::Compiled, Some(Origin::Compiled)));
}

/// Journals compare fuel only between hosts with the same version of wasmtime, which a constant names.
#[test]
fn the_version_of_wasmtime_is_that_of_the_lock_file() {
    let lock = include_str!("../Cargo.lock");
    let package = lock.split("[[package]]").find(|package| package.contains("name = \"wasmtime\"\n")).unwrap();
    assert!(package.contains(&format!("version = \"{WASMTIME_VERSION}\"")), "{package}");
}
