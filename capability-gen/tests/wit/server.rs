//! Interfaces of MCP resources and prompts.

use crate::wit::support::{function, module, record, server_parts, text_of};
use capability_gen::model::Type;
use capability_gen::server::{self, ServerPart};
use capability_gen::wit::Marks;
use std::collections::BTreeMap;
use wit_parser::{Resolve, TypeDefKind};

const HOST: &str = include_str!("../../../wit/host.wit");

/// Text and marks are hand-written: each field must have the mark of its type.
#[test]
fn marks_match_the_wit_text() {
    for part in [ServerPart::Resources, ServerPart::Prompts] {
        let mut module = module(vec![function("f", record(vec![]), Type::String)], vec![]);
        module.capabilities[0].server = server_parts();
        let mut resolve = Resolve::default();
        resolve.push_str("host.wit", HOST).unwrap();
        let package = resolve.push_str("module.wit", &text_of(&module).0).unwrap();
        let interface = &resolve.interfaces[resolve.packages[package].interfaces[part.name()]];
        let mut expected = Marks::new();
        for (name, id) in &interface.types {
            let TypeDefKind::Record(record) = &resolve.types[*id].kind else { continue };
            let mark = |field: &wit_parser::Field| {
                let is_option = match field.ty {
                    wit_parser::Type::Id(id) => matches!(resolve.types[id].kind, TypeDefKind::Option(_)),
                    _ => false,
                };
                match (field.name.as_str(), is_option) {
                    ("extras", _) => "*".to_owned(),
                    (name, true) => format!("?{}", capability_gen::names::camel(name)),
                    (name, false) => format!("={}", capability_gen::names::camel(name)),
                }
            };
            let fields: BTreeMap<String, String> =
                record.fields.iter().map(|field| (field.name.clone(), mark(field))).collect();
            expected.insert(name.clone(), fields);
        }
        assert_eq!(server::marks(part), expected, "{part:?}");
        let names: Vec<&str> = interface.functions.keys().map(String::as_str).collect();
        assert_eq!(server::functions(part).iter().map(|function| function.name).collect::<Vec<_>>(), names);
        for function in server::functions(part) {
            let schema: serde_json::Value = serde_json::from_str(function.schema).unwrap();
            let named: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            let params: Vec<&String> = interface.functions[function.name].params.iter().map(|one| &one.name).collect();
            assert_eq!(named, params, "{}", function.method);
        }
    }
}

/// A server called `resources` keeps its name; its part gets another name, always the same.
#[test]
fn a_name_that_is_taken_is_escaped() {
    let mut module = module(vec![function("read", record(vec![]), Type::String)], vec![]);
    module.capabilities[0].interface = "resources".to_owned();
    module.capabilities[0].server = server_parts();
    let (text, plan) = text_of(&module);
    let names: Vec<&str> = plan.server.iter().map(|of| of.interface.as_str()).collect();
    assert_eq!((plan.interfaces[0].name.as_str(), names[1]), ("resources", "prompts"));
    assert!(names[0].starts_with("resources-x") && text.contains(&format!("interface {} {{", names[0])), "{text}");
    assert_eq!(text_of(&module), (text, plan));
}
