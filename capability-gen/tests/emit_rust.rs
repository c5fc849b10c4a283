//! Rust emitter: generated code is compared with the files that `emit_rust_compiled` compiles; `UPDATE_GENERATED=1`
//! rewrites them.

#[allow(dead_code, unreachable_pub)]
#[path = "modules/mod.rs"]
mod modules;

use crate::rust_syntax::assert_parses;
use capability_gen::emit::rust::rust;
use capability_gen::model::{Module, Presence, Rest, Type, TypeId};
use modules::{definition, docs, everything, field, function, list, module, record, texts, train_schedule};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::path::Path;

#[test]
fn generated_files_are_current() {
    for (name, module) in [("train_schedule.rs", train_schedule()), ("everything.rs", everything())] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated").join(name);
        let generated = rust(&module);
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), generated, "{name}: run again with UPDATE_GENERATED=1");
    }
}

fn without_descriptions(module: &Module) -> Module {
    let mut module = module.clone();
    for capability in &mut module.capabilities {
        capability.description.clear();
        capability.functions.iter_mut().for_each(|function| function.description.clear());
    }
    for definition in &mut module.types.0 {
        definition.docs = docs("");
        if let Type::Record(record) = &mut definition.ty {
            record.fields.iter_mut().for_each(|field| field.docs = docs(""));
        }
    }
    module
}

fn split(source: &str) -> (Vec<&str>, Vec<&str>) {
    source.split('\n').partition(|line| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("//!")
    })
}

/// Returns the code. It is the same with and without descriptions, and no comment holds anything that could be run.
fn checked(module: &Module) -> String {
    let source = rust(module);
    let plain = rust(&without_descriptions(module));
    let (comments, code) = split(&source);
    assert_eq!(code, split(&plain).1);
    for comment in comments {
        let text = comment.trim_start().trim_start_matches("///").trim_start_matches("//!");
        assert!(
            !text.contains("```") && !text.contains("~~~") && !text.contains("  ") && !text.contains('\r'),
            "{comment:?}"
        );
        assert!(
            !text.contains(|character: char| character.is_control() || ('\u{202a}'..='\u{202e}').contains(&character))
        );
    }
    source
}

#[test]
fn descriptions_never_become_code() {
    assert_parses(&[checked(&everything()), checked(&train_schedule())]);
    let long = module("long", "long", vec![definition("Long", &"word ".repeat(100_000), list(Type::Any))], vec![]);
    assert!(rust(&long).len() < 10_000);
}

#[test]
fn any_names_and_descriptions_give_rust() {
    let names = prop::collection::hash_set("\\PC{0,6}|type|self|a[ _-]?[bB]|[\"\\\\{}\n]{1,3}", 2..6);
    let text = "(\\PC|[\n\r\t`~ \u{202e}/*]){0,80}";
    let sources = RefCell::new(Vec::new());
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&(names, text), |(names, text)| {
        let names: Vec<String> = names.into_iter().collect();
        let fields = names.iter().map(|name| {
            let mut field = field(name, texts(&[name, &text]), Presence::Optional);
            field.docs = docs(&text);
            field
        });
        let parameters = definition(&names[0], &text, record(fields.collect(), Rest::Undeclared));
        let choices: Vec<&str> = names.iter().map(String::as_str).collect();
        let other = definition(&names[1], &text, texts(&choices));
        let call = function(&names[0], &names[0], Type::Named(TypeId(0)), list(Type::Named(TypeId(1))));
        let mut module = module(&names[1], &names[0], vec![parameters, other], vec![call.clone(), call]);
        module.capabilities[0].description = text.clone();
        module.capabilities[0].functions[0].description = text;
        sources.borrow_mut().push(checked(&module));
        prop_assert_eq!(rust(&module), rust(&module));
        Ok(())
    });
    result.unwrap();
    assert_parses(&sources.into_inner());
}
