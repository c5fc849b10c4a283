//! Hand-built modules: a typical one, and one with every type and hostile names.

use capability_gen::definition::{Annotations, Config, Place, SourceKind};
use capability_gen::model::{
    Capability, Docs, Field, Function, Module, Presence, Record, Rest, ServerInterface, Type, TypeDefinition, TypeId,
    Types,
};
use capability_gen::server::ServerPart;
use serde_json::{Value, json};

pub fn docs(description: &str) -> Docs {
    Docs { description: description.to_owned(), ..Docs::default() }
}

pub fn field(name: &str, ty: Type, presence: Presence) -> Field {
    Field { name: name.to_owned(), ty, presence, docs: docs(&format!("What {name} is.")) }
}

pub fn record(fields: Vec<Field>, rest: Rest) -> Type {
    Type::Record(Record { fields, rest })
}

pub fn definition(name: &str, description: &str, ty: Type) -> TypeDefinition {
    TypeDefinition { name: name.to_owned(), docs: docs(description), ty }
}

pub fn list(inner: Type) -> Type {
    Type::List(Box::new(inner))
}

pub fn texts(values: &[&str]) -> Type {
    Type::Literals(values.iter().map(|text| Value::from(*text)).collect())
}

pub fn nullable(ty: Type) -> Type {
    Type::Union(vec![ty, Type::Null])
}

pub fn function(name: &str, wit_name: &str, params: Type, result: Type) -> Function {
    Function {
        name: name.to_owned(),
        js_name: name.to_owned(),
        wit_name: wit_name.to_owned(),
        title: None,
        description: format!("Does {name}."),
        params,
        result,
        has_result_schema: true,
        params_schema: json!({}),
        result_schema: None,
        source_parameters: json!({}),
        source_returns: None,
        is_result_wrapped: false,
        annotations: Annotations::default(),
        tags: Vec::new(),
        config: Config::default(),
        implementation: None,
        provider: None,
        place: Place::default(),
    }
}

pub fn module(name: &str, export: &str, types: Vec<TypeDefinition>, functions: Vec<Function>) -> Module {
    let capability = Capability {
        name: export.to_owned(),
        export: export.to_owned(),
        interface: name.to_owned(),
        is_single_function: false,
        description: format!("All about {name}."),
        version: "1.0.0".to_owned(),
        source: SourceKind::Tool,
        owner: None,
        tags: Vec::new(),
        functions,
        config: Config::default(),
        place: Place::default(),
        server: Vec::new(),
        component: None,
    };
    Module {
        name: name.to_owned(),
        specifier: format!("@capabilities/{name}"),
        version: "1.0.0".to_owned(),
        capabilities: vec![capability],
        types: Types(types),
        dependencies: Vec::new(),
        notes: Vec::new(),
    }
}

pub fn train_schedule() -> Module {
    use Presence::{Expected, Optional, Required};
    let params = record(
        vec![
            field("from", Type::String, Required),
            field("to", Type::String, Required),
            field("departAfter", nullable(Type::String), Optional),
            Field {
                docs: Docs { default: Some(json!(5)), limits: vec!["1 to 20".to_owned()], ..docs("How many.") },
                ..field("maxResults", Type::Integer, Optional)
            },
            field("class", texts(&["first", "second"]), Optional),
        ],
        Rest::Closed,
    );
    let trip = record(
        vec![
            field("id", Type::String, Required),
            field("price", nullable(Type::Number), Required),
            field("stops", list(Type::Named(TypeId(2))), Expected),
            field("type", texts(&["regional", "express"]), Optional),
        ],
        Rest::Undeclared,
    );
    let stop =
        record(vec![field("station", Type::String, Required), field("minutes", Type::Integer, Required)], Rest::Closed);
    module(
        "train-schedule",
        "trainSchedule",
        vec![
            definition("GetScheduleParams", "What to look for.", params),
            definition("Trip", "A way to get there.", trip),
            definition("Stop", "", stop),
        ],
        vec![
            function("getSchedule", "get-schedule", Type::Named(TypeId(0)), list(Type::Named(TypeId(1)))),
            function("listStations", "list-stations", record(vec![], Rest::Closed), list(Type::String)),
        ],
    )
}

pub const EVIL: &str = "*/ \" \\ \r\n```\nfn evil() { panic!() }\n```\n\n    std::process::exit(1);\n~~~~\n-     indented\n\u{202e}\u{7}#![feature(x)]\u{2028}pub fn evil() {}";

/// Every type, with hostile names.
pub fn everything() -> Module {
    use Presence::{Expected, Optional, Required};
    let names = [
        "type",
        "self",
        "",
        "If-Match",
        "a b",
        "aB",
        "a_b",
        "extras",
        "\"; } fn evil() {",
        "\u{202e}x",
        "*/",
        "日本",
        "1",
        "Self",
        "crate",
        "async",
    ];
    let hostile = names.iter().map(|name| Field { docs: docs(EVIL), ..field(name, Type::Integer, Optional) }).collect();
    let tagged = |tag: &str| {
        record(vec![field("kind", texts(&[tag]), Required), field("value", Type::Any, Required)], Rest::Closed)
    };
    let types = vec![
        definition("Option", EVIL, record(hostile, Rest::Undeclared)),
        definition("Value", "", texts(&["", "a", "A", "self", "reactions-+1", "reactions--1", "\"\\\n", "日本"])),
        definition(
            "Tree",
            "",
            record(
                vec![
                    field("children", list(Type::Named(TypeId(2))), Required),
                    field("parent", Type::Named(TypeId(2)), Optional),
                ],
                Rest::Closed,
            ),
        ),
        definition(
            "Expression",
            "",
            Type::Union(vec![Type::String, list(Type::Named(TypeId(3))), Type::Map(Box::new(Type::Named(TypeId(3))))]),
        ),
        definition("Nested", "", list(Type::Named(TypeId(4)))),
        definition("Left", "", record(vec![field("right", nullable(Type::Named(TypeId(6))), Required)], Rest::Closed)),
        definition("Right", "", record(vec![field("left", nullable(Type::Named(TypeId(5))), Optional)], Rest::Closed)),
        definition("MaybeText", "", nullable(Type::String)),
        definition("Shape", "", Type::Union(vec![tagged("circle"), tagged("square")])),
        definition(
            "Everything",
            "",
            record(
                vec![
                    field("any", Type::Any, Required),
                    field("anyOptional", Type::Any, Optional),
                    field("never", Type::Never, Optional),
                    field("null", Type::Null, Required),
                    field("nullOptional", Type::Null, Optional),
                    field("boolean", Type::Boolean, Required),
                    field("number", Type::Number, Expected),
                    field("numbers", Type::Literals(vec![json!(1), json!(2)]), Required),
                    field("mixed", Type::Literals(vec![json!(1), json!("a")]), Required),
                    field(
                        "pair",
                        Type::Tuple { items: vec![Type::String, Type::Integer], required: 2, rest: None },
                        Required,
                    ),
                    field(
                        "loose",
                        Type::Tuple { items: vec![Type::String, Type::Integer], required: 1, rest: None },
                        Required,
                    ),
                    field(
                        "map",
                        Type::Map(Box::new(record(
                            vec![field("deep", list(texts(&["x", "y"])), Required)],
                            Rest::Closed,
                        ))),
                        Required,
                    ),
                    field(
                        "union",
                        Type::Union(vec![
                            Type::String,
                            Type::Integer,
                            list(Type::Boolean),
                            record(vec![field("x", Type::Number, Required)], Rest::Closed),
                        ]),
                        Required,
                    ),
                    field("nullableUnion", Type::Union(vec![Type::Boolean, Type::Integer, Type::Null]), Optional),
                    field(
                        "overlapping",
                        Type::Union(vec![
                            record(vec![field("a", Type::String, Optional)], Rest::Closed),
                            Type::Map(Box::new(Type::Any)),
                        ]),
                        Required,
                    ),
                    field("textual", Type::Union(vec![texts(&["auto"]), Type::String]), Required),
                    field("maybe", Type::Named(TypeId(7)), Optional),
                    field("maybeRequired", Type::Named(TypeId(7)), Required),
                    field("shape", nullable(Type::Named(TypeId(8))), Optional),
                    field("expression", Type::Named(TypeId(3)), Required),
                    field("left", Type::Named(TypeId(5)), Required),
                    field("nested", Type::Named(TypeId(4)), Required),
                ],
                Rest::Declared(Box::new(Type::Integer)),
            ),
        ),
    ];
    let functions = vec![
        function("slack_\"quoted\"\\", "type", Type::Named(TypeId(9)), Type::Any),
        function(
            "self",
            "self",
            Type::Map(Box::new(Type::String)),
            record(vec![field("ok", Type::Boolean, Required)], Rest::Undeclared),
        ),
        function("nothing", "nothing", record(vec![], Rest::Closed), nullable(Type::Integer)),
    ];
    let mut module = module("serde", "every\"thing", types, functions);
    module.capabilities[0].description = EVIL.to_owned();
    module.capabilities[0].server = [ServerPart::Resources, ServerPart::Prompts]
        .map(|part| ServerInterface { part, interface: part.name().to_owned() })
        .to_vec();
    module.capabilities[0].functions[0].description = EVIL.to_owned();
    module
}
