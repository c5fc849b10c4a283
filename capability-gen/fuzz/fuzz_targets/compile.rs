#![no_main]

//! Fuzz target from any text to every output: the WIT parses, schemas compile, and nothing panics.

use capability_gen::compile::{ModuleSource, compile};
use capability_gen::sources::{Source, parse};
use capability_gen::validate::{Validator, apply_defaults};
use capability_gen::{emit, wit};

const HOST: &str = include_str!("../../../wit/host.wit");

libfuzzer_sys::fuzz_target!(|text: &str| {
    capability_gen_fuzz::parse_any(text);
    let source = Source { file: "fuzz.json", text, name: None, format: None };
    let Ok(definitions) = parse(&source) else { return };
    if definitions.is_empty() {
        return;
    }
    let Ok(module) = compile(ModuleSource { specifier: None, stem: None, definitions }) else { return };
    let package = emit::wit::wit(&module, &wit::plan(&module));
    let mut resolve = wit_parser::Resolve::default();
    resolve.push_str("host.wit", HOST).expect("the contracts are valid");
    if let Err(error) = resolve.push_str("fuzz.wit", &package) {
        panic!("{error:#}\n{package}");
    }
    let _ = (emit::dts::dts(&module), emit::js::js(&module), emit::rust::rust(&module));
    let _ = emit::schema_json::schema_json(&module);
    for function in module.capabilities.iter().flat_map(|capability| &capability.functions) {
        if let Ok(validator) = Validator::new(&function.params_schema) {
            let mut value = serde_json::json!({});
            apply_defaults(&function.params_schema, &mut value);
            let _ = validator.validate(&value);
        }
    }
});
