//! Compiler from definitions to a module: assigns names and reads schemas.
//!
//! The name of a module is the first of these that applies:
//!
//! 1. the specifier in the configuration;
//! 2. `mcp-<server>` for an MCP server's tools;
//! 3. the file's stem, if the definitions came from one file: `company-crm.ts` is `@capabilities/company-crm`;
//! 4. the definition's own name: `trainSchedule` is `@capabilities/train-schedule`.
//!
//! A definition of one bare function drops a leading verb: `get_weather` is `@capabilities/weather` with the export
//! `getWeather`. An MCP tool drops its server's own prefix: `slack_list_channels` of `slack` is `slack.listChannels`.

use crate::definition::{Definition, FunctionDefinition, Note, Place, ServerExtras, SourceKind};
use crate::model::{Capability, Function, Module, ServerInterface, Type};
use crate::names::{self, Collision, Scope};
use crate::schema::{Reader, SchemaError};
use crate::server::ServerPart;
use std::collections::HashMap;

/// Default namespace of modules.
pub const NAMESPACE: &str = "capabilities";

/// Version of definitions that state none.
const DEFAULT_VERSION: &str = "1.0.0";

/// Input of the compiler for one module.
#[derive(Clone, Debug)]
pub struct ModuleSource {
    /// Full specifier, if the configuration sets one: `@company/internal-sdk`.
    pub specifier: Option<String>,
    /// Stem of the file that the definitions came from.
    pub stem: Option<String>,
    /// At least one.
    pub definitions: Vec<Definition>,
}

/// Compile error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// Invalid schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// No functions.
    #[error("{0}: no functions: a module needs at least one")]
    Empty(String),
    /// Two definitions with the same name.
    #[error("{first} and {second} both define `{name}`: rename one of them")]
    Duplicate {
        /// The name.
        name: String,
        /// Place of the first definition.
        first: Place,
        /// Place of the second definition.
        second: Place,
    },
    /// Invalid module specifier.
    #[error("invalid module name `{0}`: write `@scope/name` in lower case, such as `@company/internal-sdk`")]
    Specifier(String),
}

/// Compiles definitions into one module.
pub fn compile(source: ModuleSource) -> Result<Module, CompileError> {
    let (namespace, name) = module_name(&source)?;
    let mut notes = Vec::new();
    let mut reader = Reader::new();
    let mut interfaces = Scope::new();
    let mut exports = HashMap::new();
    let mut capabilities: Vec<Capability> = Vec::new();
    let mut offered = Vec::new();
    let is_alone = source.definitions.len() == 1;
    for mut definition in source.definitions {
        let parts: Vec<ServerPart> = definition.server.iter().flat_map(ServerExtras::parts).collect();
        if definition.functions.is_empty() && parts.is_empty() {
            return Err(CompileError::Empty(definition.place.to_string()));
        }
        notes.append(&mut definition.notes);
        let place = definition.place.clone();
        let is_single = definition.is_single_function && definition.functions.len() == 1;
        let wanted = if is_single && is_alone { &name } else { &definition.name };
        let interface = interfaces.add(wanted);
        let capability = capability(definition, interface, is_single, &mut reader, &mut notes)?;
        if let Some(first) = exports.insert(capability.export.clone(), place.clone()) {
            return Err(CompileError::Duplicate { name: capability.export, first, second: place });
        }
        capabilities.push(capability);
        offered.push(parts);
    }
    if capabilities.is_empty() {
        return Err(CompileError::Empty(name));
    }
    // Last, so that a server called `resources` keeps its name.
    for (capability, parts) in capabilities.iter_mut().zip(offered) {
        let interface = |part: ServerPart| ServerInterface { part, interface: interfaces.add(part.name()) };
        capability.server = parts.into_iter().map(interface).collect();
    }
    Ok(Module {
        specifier: format!("@{namespace}/{name}"),
        version: module_version(&capabilities),
        name,
        capabilities,
        types: reader.finish(),
        dependencies: Vec::new(),
        notes,
    })
}

/// Returns true if the text is a module specifier: `@company/internal-sdk`.
pub fn is_specifier(text: &str) -> bool {
    split_specifier(text).is_some()
}

fn split_specifier(text: &str) -> Option<(&str, &str)> {
    let is_plain = |part: &str| !part.is_empty() && names::kebab(part) == part;
    let (namespace, name) = text.strip_prefix('@')?.split_once('/')?;
    (is_plain(namespace) && is_plain(name)).then_some((namespace, name))
}

/// Namespace and name.
fn module_name(source: &ModuleSource) -> Result<(String, String), CompileError> {
    if let Some(specifier) = &source.specifier {
        return match split_specifier(specifier) {
            Some((namespace, name)) => Ok((namespace.to_owned(), name.to_owned())),
            None => Err(CompileError::Specifier(specifier.clone())),
        };
    }
    let first = source.definitions.first();
    let own = first.map(|definition| definition.name.as_str()).unwrap_or_default();
    let is_single = source.definitions.len() == 1 && first.is_some_and(|first| first.is_single_function);
    let name = match (first.map(|first| first.source), &source.stem) {
        (Some(SourceKind::Mcp), _) => names::module_name(&format!("mcp-{own}")),
        (_, stem) => {
            let base = stem.as_deref().unwrap_or(own);
            if is_single { names::single_function_module(base) } else { names::module_name(base) }
        }
    };
    Ok((NAMESPACE.to_owned(), name))
}

fn capability(
    definition: Definition,
    interface: String,
    is_single_function: bool,
    reader: &mut Reader,
    notes: &mut Vec<Note>,
) -> Result<Capability, CompileError> {
    let wit_names = function_names(&definition, notes);
    reader.set_strict(definition.is_own_format);
    let mut functions = Vec::with_capacity(definition.functions.len());
    for (function, wit_name) in definition.functions.into_iter().zip(wit_names) {
        functions.push(read_function(function, wit_name, reader, notes)?);
    }
    let export = match (is_single_function, functions.first()) {
        (true, Some(function)) => names::js_binding(&function.js_name),
        _ => names::js_binding(&names::camel(&interface)),
    };
    Ok(Capability {
        name: definition.name,
        export,
        interface,
        is_single_function,
        description: description(&definition.description, definition.server.as_ref()),
        version: version(definition.version.as_deref(), &definition.place, notes),
        source: definition.source,
        owner: definition.owner,
        tags: definition.tags,
        functions,
        config: definition.config,
        place: definition.place,
        server: Vec::new(),
        component: definition.component,
    })
}

/// A definition's description, followed by its MCP server's instructions.
fn description(own: &str, server: Option<&ServerExtras>) -> String {
    match server.and_then(|server| server.instructions.as_deref()) {
        Some(instructions) if own.is_empty() => instructions.to_owned(),
        Some(instructions) => format!("{own}\n\n{instructions}"),
        None => own.to_owned(),
    }
}

/// The WIT names of a capability's functions, unique among them.
fn function_names(definition: &Definition, notes: &mut Vec<Note>) -> Vec<String> {
    let is_server = definition.source == SourceKind::Mcp;
    let sources: Vec<&str> = definition.functions.iter().map(|function| function.name.as_str()).collect();
    let mut count: HashMap<String, usize> = HashMap::new();
    let short = |name| if is_server { names::without_prefix(name, &definition.name) } else { name };
    for name in &sources {
        *count.entry(names::camel(short(name))).or_default() += 1;
    }
    // Tools whose names differ only in the prefix keep it.
    let wanted = sources.iter().map(|name| match count.get(&names::camel(short(name))) {
        Some(1) => short(name),
        _ => name,
    });
    let mut scope = Scope::new();
    let names = scope.add_all(wanted);
    for Collision { holder, other, name } in scope.collisions() {
        let own = names::camel(name);
        let message = format!("`{holder}` and `{other}` would have one name in scripts, so `{other}` is `{own}` there");
        notes.push(Note { place: definition.place.clone(), message });
    }
    names
}

fn read_function(
    definition: FunctionDefinition,
    wit_name: String,
    reader: &mut Reader,
    notes: &mut Vec<Note>,
) -> Result<Function, CompileError> {
    // The path continues inside the schema, whose key depends on the format.
    let part = |name: &str| Place { path: format!("{} ({name})", definition.place.path), ..definition.place.clone() };
    let params = reader.params(&wit_name, &definition.parameters, &part("parameters"))?;
    let result = definition.returns.as_ref().map(|returns| reader.result(&wit_name, returns, &part("result")));
    let result = result.transpose()?;
    notes.extend(params.notes);
    let (result_type, result_schema) = match result {
        Some(reading) => {
            notes.extend(reading.notes);
            (reading.ty, Some(reading.schema))
        }
        None => (Type::Any, None),
    };
    Ok(Function {
        js_name: names::camel(&wit_name),
        wit_name,
        name: definition.name,
        title: definition.title,
        description: definition.description,
        params: params.ty,
        has_result_schema: result_schema.is_some(),
        result: result_type,
        params_schema: params.schema,
        result_schema,
        source_parameters: definition.parameters,
        source_returns: definition.returns,
        is_result_wrapped: definition.is_result_wrapped,
        annotations: definition.annotations,
        tags: definition.tags,
        config: definition.config,
        implementation: definition.implementation,
        provider: None,
        place: definition.place,
    })
}

/// Semantic version, as WIT packages require it.
fn version(stated: Option<&str>, place: &Place, notes: &mut Vec<Note>) -> String {
    let Some(stated) = stated else { return DEFAULT_VERSION.to_owned() };
    let numbers: Vec<&str> = stated.trim_start_matches('v').split('.').collect();
    let is_number = |part: &&str| part.len() <= 9 && part.parse::<u32>().is_ok_and(|value| value.to_string() == **part);
    if (1..=3).contains(&numbers.len()) && numbers.iter().all(is_number) {
        let mut numbers: Vec<&str> = numbers;
        numbers.resize(3, "0");
        return numbers.join(".");
    }
    let message = format!("the version {stated:?} is not `major.minor.patch`: {DEFAULT_VERSION} is used");
    notes.push(Note { place: place.clone(), message });
    DEFAULT_VERSION.to_owned()
}

/// The one version of all capabilities, where there is one.
fn module_version(capabilities: &[Capability]) -> String {
    let first = capabilities.first().map(|capability| capability.version.as_str()).unwrap_or(DEFAULT_VERSION);
    match capabilities.iter().all(|capability| capability.version == first) {
        true => first.to_owned(),
        false => DEFAULT_VERSION.to_owned(),
    }
}
