//! A definition's handlers compiled into a component that exports the definition's interfaces.
//!
//! The component can answer calls in any host that knows the interface.

use super::definitions::{DefinitionBody, DefinitionFile};
use super::error::ProjectError;
use agent_spaces_linker::binding;
use agent_spaces_linker::binding::world::{Base, Names};
use agent_spaces_linker::binding::{Inside, embed};
use agent_spaces_linker::compile::Compiled;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::resolve::{Denials, Known, Withheld, resolve};
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_providers::HandlerKind;
use agent_spaces_providers::typescript::{CAPABILITIES, CAPABILITIES_SOURCE, GIVEN, PROCESS, PROCESS_SOURCE};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::{Binding, ModuleSource, Modules};
use agent_spaces_types::function::{FunctionDescription, InterfaceDescription};
use agent_spaces_types::limits::Limits;
use agent_spaces_types::names::camel_case;
use agent_spaces_types::shape::Shape;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

impl DefinitionFile {
    /// Compiles a component that exports the interfaces of this definition, answered by its handlers.
    pub fn compile_component(&self) -> Result<Compiled, ProjectError> {
        let fail = |message: String, fix: String| ProjectError::Unknown {
            place: self.path.display().to_string(),
            message,
            fix,
        };
        let Some(file) = &self.handlers else {
            return Err(fail("it has no handlers to compile".into(), self.missing_handlers()));
        };
        let mut interfaces = Interfaces::new()?;
        interfaces.add_standard()?;
        match &self.body {
            DefinitionBody::Wit(text) => interfaces.add(&self.path.display().to_string(), text)?,
            DefinitionBody::Module(module) => interfaces.add_package(module.package())?,
        }
        let exports: BTreeSet<String> = self.interfaces()?.into_iter().collect();
        let described = interfaces.select(&exports)?;
        let is_usual = |function: &FunctionDescription| {
            function.shape.is_async && matches!(function.shape.result, Some(Shape::Result(..)))
        };
        for interface in &described.interfaces {
            if let Some(odd) = interface.functions.iter().find(|function| !is_usual(function)) {
                let message =
                    format!("{} of {} is not an async function that returns a result", odd.shape.name, interface.name);
                return Err(fail(message, "Declare it as `async func(…) -> result<…>`".into()));
            }
        }
        let kind = self.handler_kind();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let module = self.modules()?.into_iter().next().unwrap_or_default();
        let workspace = Workspace::beside(file, &[]).map_err(|error| {
            fail(format!("the folder of {}: {error}", file.display()), "Check that the folder can be read".into())
        })?;
        let mut modules = interfaces.modules();
        modules.insert(PROCESS.to_owned(), ModuleSource::JavaScript(PROCESS_SOURCE.into()));
        modules.insert(CAPABILITIES.to_owned(), ModuleSource::JavaScript(CAPABILITIES_SOURCE.into()));
        modules.insert(ENVIRONMENT.to_owned(), environment());
        interfaces.add("environment.wit", ENVIRONMENT_WIT)?;
        let withheld = Withheld::new();
        let packages = self.packages(file)?;
        let entry_name = format!("{name}.provide.js");
        let mut read = |has_variables: bool| {
            modules.insert(GIVEN.to_owned(), ModuleSource::JavaScript(given(&module, has_variables)?));
            let known = Known {
                modules: &modules,
                withheld: &withheld,
                denials: Denials::default(),
                has_fetch: true,
                packages: Some(&packages),
                max_bytes: Limits::default().source,
                memory: None,
            };
            let source = entry(&name, kind, has_variables, &described.interfaces)?;
            resolve(&entry_name, &source, known, Some(&workspace))
                .map_err(|error| self.handler_error(file, packages.folder(), error))
        };
        let mut resolved = read(false)?;
        if mentions_process(&resolved.modules) {
            resolved = read(true)?;
        }
        let script = (entry_name.as_str(), resolved.entry.code.as_str(), false);
        let embedded = embed::embed(script, resolved.modules.iter());
        let all = resolved.interfaces.union(&exports).cloned().collect();
        let selection = interfaces.select(&all)?;
        let names = Names { imports: &resolved.interfaces, exports: &exports };
        let wasm = binding::build(&selection, Base::Provider, &names, Inside::Program(&embedded))?;
        Ok(Compiled { wasm, interfaces: resolved.interfaces.into_iter().collect() })
    }
}

/// WASI interface for environment variables. Imported only if the handlers or their packages mention `process`.
const ENVIRONMENT_WIT: &str = "package wasi:cli@0.2.0;
interface environment { get-environment: func() -> list<tuple<string, string>>; }";

/// Specifier of the module that wraps [`ENVIRONMENT_WIT`].
const ENVIRONMENT: &str = "agent-spaces:environment";

fn environment() -> ModuleSource {
    let interface = "wasi:cli/environment@0.2.0".to_owned();
    ModuleSource::Bindings(vec![Binding { name: "environment".to_owned(), interface }])
}

/// Source of the module that sets the variables of the global `process`, before the handlers are evaluated.
fn given(module: &str, has_variables: bool) -> Result<String, ProjectError> {
    let module = serde_json::to_string(module).map_err(HostError::engine)?;
    let (import, variables) = match has_variables {
        true => (
            format!("import {{ environment }} from '{ENVIRONMENT}';\n"),
            "Object.fromEntries(environment.getEnvironment())",
        ),
        false => (String::new(), "{}"),
    };
    Ok(format!("import {{ give }} from '{PROCESS}';\n{import}give({variables}, {module});\n"))
}

/// Returns true if any of these modules mentions `process`.
fn mentions_process(modules: &Modules) -> bool {
    let mentions = |source: &ModuleSource| matches!(source, ModuleSource::JavaScript(text) if text.contains("process"));
    modules.iter().any(|(name, source)| name != PROCESS && name != GIVEN && mentions(source))
}

/// Source of the entry script, which finds the handler of a call. The engine passes WIT names and positional arguments.
fn entry(
    name: &str,
    kind: HandlerKind,
    has_variables: bool,
    interfaces: &[InterfaceDescription],
) -> Result<String, ProjectError> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(HostError::engine);
    let path = quoted(&format!("./{name}"))?;
    // Only interfaces that the entry script imports itself are linked.
    let variables =
        if has_variables { format!("import {{ environment }} from '{ENVIRONMENT}';\n") } else { String::new() };
    let known: Map<String, Value> = interfaces.iter().map(|each| (each.name.clone(), functions(each))).collect();
    let find = kind.finding();
    Ok(format!(
        "import '{PROCESS}';\n{variables}import '{GIVEN}';\nimport * as file from {path};\n\
         const known = {};\n\
         export default async ({{ interface: of, function: name, args }}) => {{\n\
         const call = known[of][name];\n\
         const params = call.names ? Object.fromEntries(call.names.map((name, index) => [name, args[index]])) : args[0] ?? {{}};\n\
         {find}\n\
         if (typeof handler !== 'function') throw new CapabilityError(`There is no function '${{call.function}}'`, {{ code: 'call.unavailable' }});\n\
         const value = await handler(params);\n\
         return call.names ? value : value === undefined ? null : JSON.parse(JSON.stringify(value));\n}};\n",
        Value::Object(known)
    ))
}

/// Table that maps the WIT names of functions to the names of their handlers.
fn functions(interface: &InterfaceDescription) -> Value {
    let described = |function: &FunctionDescription| {
        let own = camel_case(&function.shape.name);
        let (capability, source_name, names) = match &function.spec {
            Some(spec) => (spec.capability.to_string(), spec.source_name.to_string(), Value::Null),
            None if function.shape.takes_record() => (interface.export.clone(), own.clone(), Value::Null),
            None => {
                let names = function.shape.parameters.iter().map(|parameter| json!(parameter.name.json)).collect();
                (interface.export.clone(), own.clone(), names)
            }
        };
        json!({ "capability": capability, "name": source_name, "function": own, "names": names })
    };
    let each = |function: &FunctionDescription| (function.shape.name.clone(), described(function));
    Value::Object(interface.functions.iter().map(each).collect())
}
