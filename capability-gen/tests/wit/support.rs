//! Small models, and parsing of their WIT.

use capability_gen::definition::{Annotations, Config, Place, SourceKind};
use capability_gen::emit::wit::wit;
use capability_gen::model::{
    Capability, Docs, Field, Function, Module, Presence, Record, Rest, ServerInterface, Type, TypeDefinition, Types,
};
use capability_gen::names::{camel, kebab};
use capability_gen::server::ServerPart;
use capability_gen::wit::{Plan, plan};
use serde_json::{Value, json};
use std::path::Path;
use wit_parser::{Resolve, TypeDefKind, TypeId};

pub(crate) fn module(functions: Vec<Function>, types: Vec<(&str, Type)>) -> Module {
    let types = types.into_iter().map(|(name, ty)| TypeDefinition { name: name.to_owned(), docs: Docs::default(), ty });
    Module {
        name: "train-schedule".into(),
        specifier: "@capabilities/train-schedule".into(),
        version: "1.0.0".into(),
        capabilities: vec![Capability {
            name: "trainSchedule".into(),
            export: "trainSchedule".into(),
            interface: "train-schedule".into(),
            is_single_function: false,
            description: "Get train schedule information".into(),
            version: "1.0.0".into(),
            source: SourceKind::Tool,
            owner: None,
            tags: Vec::new(),
            functions,
            config: Config::default(),
            place: Place::default(),
            server: Vec::new(),
            component: None,
        }],
        types: Types(types.collect()),
        dependencies: Vec::new(),
        notes: Vec::new(),
    }
}

/// All parts of a server.
pub(crate) fn server_parts() -> Vec<ServerInterface> {
    [ServerPart::Resources, ServerPart::Prompts]
        .map(|part| ServerInterface { part, interface: part.name().to_owned() })
        .to_vec()
}

pub(crate) fn function(name: &str, params: Type, result: Type) -> Function {
    Function {
        name: name.to_owned(),
        js_name: camel(name),
        wit_name: kebab(name),
        title: None,
        description: String::new(),
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

/// `name?` is optional.
pub(crate) fn field(name: &str, ty: Type) -> Field {
    let (name, presence) = match name.strip_suffix('?') {
        Some(name) => (name, Presence::Optional),
        None => (name, Presence::Required),
    };
    Field { name: name.to_owned(), ty, presence, docs: Docs::default() }
}

pub(crate) fn record(fields: Vec<Field>) -> Type {
    Type::Record(Record { fields, rest: Rest::Closed })
}

pub(crate) fn open(fields: Vec<Field>) -> Type {
    Type::Record(Record { fields, rest: Rest::Undeclared })
}

pub(crate) fn literals(values: Value) -> Type {
    Type::Literals(values.as_array().unwrap().clone())
}

pub(crate) fn list(item: Type) -> Type {
    Type::List(Box::new(item))
}

pub(crate) fn nullable(ty: Type) -> Type {
    Type::Union(vec![ty, Type::Null])
}

/// The WIT and plan of a function `f` whose result is `ty`; the text has parsed.
pub(crate) fn result_of(ty: Type, types: Vec<(&str, Type)>) -> (String, Plan) {
    let module = module(vec![function("f", record(vec![]), ty)], types);
    text_of(&module)
}

pub(crate) fn text_of(module: &Module) -> (String, Plan) {
    let plan = plan(module);
    let text = wit(module, &plan);
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, plan)
}

/// The content of the package, without its documentation.
pub(crate) fn parse(text: &str) -> Result<String, String> {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit/host.wit");
    let host = std::fs::read_to_string(host).map_err(|error| format!("wit/host.wit: {error}"))?;
    let mut resolve = Resolve::default();
    resolve.push_str("host.wit", &host).map_err(|error| format!("{error:#}"))?;
    let package = resolve.push_str("module.wit", text).map_err(|error| format!("{error:#}"))?;
    let mut out = format!("{}\n", resolve.packages[package].name);
    for (name, id) in &resolve.packages[package].interfaces {
        let interface = &resolve.interfaces[*id];
        out += &format!("interface {name}\n");
        for (name, id) in &interface.types {
            out += &format!("{name} {}\n", kind(&resolve, *id));
        }
        for (name, function) in &interface.functions {
            let params = function.params.iter().map(|param| format!("{}: {}", param.name, ty(&resolve, &param.ty)));
            let result = function.result.as_ref().map_or("_".to_owned(), |result| ty(&resolve, result));
            out += &format!("{name} {:?} ({}) -> {result}\n", function.kind, params.collect::<Vec<_>>().join(", "));
        }
    }
    Ok(out)
}

fn ty(resolve: &Resolve, ty: &wit_parser::Type) -> String {
    match ty {
        wit_parser::Type::Id(id) => match &resolve.types[*id].name {
            Some(name) => name.clone(),
            None => kind(resolve, *id),
        },
        scalar => format!("{scalar:?}"),
    }
}

/// Joined and never quoted: quotes in quotes would double at every level.
fn kind(resolve: &Resolve, id: TypeId) -> String {
    let maybe = |inner: &Option<wit_parser::Type>| inner.as_ref().map_or("_".to_owned(), |inner| ty(resolve, inner));
    let (kind, inside): (&str, Vec<String>) = match &resolve.types[id].kind {
        TypeDefKind::Record(record) => (
            "record",
            record.fields.iter().map(|field| format!("{}: {}", field.name, ty(resolve, &field.ty))).collect(),
        ),
        TypeDefKind::Variant(variant) => {
            ("variant", variant.cases.iter().map(|case| format!("{}({})", case.name, maybe(&case.ty))).collect())
        }
        TypeDefKind::Enum(cases) => ("enum", cases.cases.iter().map(|case| case.name.clone()).collect()),
        TypeDefKind::Option(inner) => ("option", vec![ty(resolve, inner)]),
        TypeDefKind::List(inner) => ("list", vec![ty(resolve, inner)]),
        TypeDefKind::Tuple(tuple) => ("tuple", tuple.types.iter().map(|inner| ty(resolve, inner)).collect()),
        TypeDefKind::Result(result) => ("result", vec![maybe(&result.ok), maybe(&result.err)]),
        TypeDefKind::Type(inner) => ("alias", vec![ty(resolve, inner)]),
        other => panic!("{} is not written by anyone", other.as_str()),
    };
    format!("{kind} <{}>", inside.join(", "))
}
