//! Static checks of handlers: syntax, imports and missing exports, without calling any.

use super::{DefinedModule, DefinitionBody, DefinitionFile};
use crate::error::ProjectError;
use crate::text;
use agent_spaces_calls::operator_notices::Notices;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_providers::{HandlerKind, ProviderGrants, TypeScript};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_script::with_enough_stack;
use agent_spaces_types::names::camel_case;
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::provider_kind::ProviderKind;
use capability_gen::definition::{Note, Place};
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;
use oxc_syntax::module_record::{ExportEntry, ExportExportName};
use std::collections::BTreeSet;
use std::path::Path;

/// Size limit of a file of handlers whose exports are checked.
const MAX_HANDLER_BYTES: usize = 1024 * 1024;

/// Function that needs a handler.
struct Wanted {
    /// JavaScript name.
    function: String,
    /// Name in the definition, if there is one.
    source: Option<String>,
}

impl DefinitionFile {
    /// Faults that would make calls fail: syntax errors, missing imports, functions without a handler.
    pub fn handler_faults(&self, engine: &Engine) -> Result<Vec<Note>, ProjectError> {
        let Some(file) = &self.handlers else { return Ok(Vec::new()) };
        let modules = self.modules()?;
        let module = modules.first().map(String::as_str).unwrap_or_default();
        let packages = self.packages(file)?;
        let folder = packages.folder().to_owned();
        let (kind, grants) = (self.handler_kind(), ProviderGrants::default());
        match TypeScript::prepare(file, kind, module, grants, packages, engine, Notices::default()) {
            Ok(_) if kind == HandlerKind::Exports => self.missing(file),
            Ok(_) => Ok(Vec::new()),
            Err(PrepareError::Host(error)) => Err(error.into()),
            Err(PrepareError::Script(error)) => {
                let path = error.position.map_or("handlers".to_owned(), |at| format!("{}:{}", at.line, at.column));
                let ProjectError::Handlers { file, message, .. } = self.handler_error(file, &folder, error) else {
                    return Ok(Vec::new());
                };
                Ok(vec![Note {
                    place: Place { file, path },
                    message: format!("its functions cannot be called: {message}"),
                }])
            }
        }
    }

    /// Reports functions without an exported handler.
    fn missing(&self, file: &Path) -> Result<Vec<Note>, ProjectError> {
        let Some(exports) = text::read(file, MAX_HANDLER_BYTES).ok().and_then(|source| exports(&source)) else {
            return Ok(Vec::new());
        };
        let mut wanted = self.wanted()?;
        let is_answered = |wanted: &Wanted| {
            exports.contains(&wanted.function) || wanted.source.as_ref().is_some_and(|name| exports.contains(name))
        };
        let known: BTreeSet<String> =
            wanted.iter().filter(|one| is_answered(one)).map(|one| one.function.clone()).collect();
        wanted.retain(|wanted| !is_answered(wanted));
        let others: Vec<&str> = exports.iter().filter(|name| !known.contains(*name)).map(String::as_str).collect();
        let note = |Wanted { function, .. }: Wanted| {
            let fix = match nearest(&function, others.iter().copied()) {
                Some(near) => format!("did you mean its export `{near}`? Rename it"),
                None => format!("add `export async function {function}(params) {{ … }}`"),
            };
            let place = Place { file: file.display().to_string(), path: "exports".to_owned() };
            Note { place, message: format!("`{function}` has no handler: the file exports no such function; {fix}") }
        };
        Ok(wanted.into_iter().map(note).collect())
    }

    /// Functions that its handlers must answer.
    fn wanted(&self) -> Result<Vec<Wanted>, ProjectError> {
        match &self.body {
            DefinitionBody::Module(module) => self.wanted_of(module),
            DefinitionBody::Wit(text) => {
                let mut own = Interfaces::new()?;
                own.add(&self.path.display().to_string(), text)?;
                let names: BTreeSet<String> = own.names().map(str::to_owned).collect();
                let described = own.select(&names)?.interfaces;
                let functions = described.iter().flat_map(|interface| &interface.functions);
                let names = functions.map(|function| camel_case(&function.shape.name));
                Ok(names.map(|function| Wanted { function, source: None }).collect())
            }
        }
    }

    fn wanted_of(&self, module: &DefinedModule) -> Result<Vec<Wanted>, ProjectError> {
        let compiled = module.compile()?;
        let mut wanted = Vec::new();
        for capability in &compiled.capabilities {
            let is_its = |name: &str| {
                name.split_once('/')
                    .is_some_and(|(_, name)| name.split('@').next() == Some(capability.interface.as_str()))
            };
            let interface = module.outline.interfaces.iter().find(|it| it.part.is_none() && is_its(&it.name));
            let Some(interface) = interface else { continue };
            let functions = capability
                .functions
                .iter()
                .filter(|function| self.provider_kind(interface, &function.wit_name) == Some(ProviderKind::TypeScript));
            wanted.extend(
                functions
                    .map(|function| Wanted { function: function.js_name.clone(), source: Some(function.name.clone()) }),
            );
        }
        Ok(wanted)
    }
}

/// Names of the values that a file exports; `None` if `export *` makes them unknown without resolving it.
fn exports(source: &str) -> Option<BTreeSet<String>> {
    let read = || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, SourceType::ts()).parse();
        let record = &parsed.module_record;
        if !record.star_export_entries.is_empty() {
            return None;
        }
        let name = |entry: &ExportEntry<'_>| match &entry.export_name {
            ExportExportName::Name(name) if !entry.is_type => Some(name.name.to_string()),
            _ => None,
        };
        let entries = record.local_export_entries.iter().chain(record.indirect_export_entries.iter());
        Some(entries.filter_map(name).collect())
    };
    with_enough_stack(source, read).ok().flatten()
}

#[cfg(test)]
mod tests {
    use crate::definitions::handler_faults::exports;

    #[test]
    fn exported_values_are_found_by_name() {
        let found = |source: &str| exports(source).map(|names| names.into_iter().collect::<Vec<_>>().join(" "));
        let source = "export async function a() {}\nexport const b = 1, { c } = x;\nexport type T = 1;\nexport interface I {}\n\
                      const d = 1; export { d as e }; export { f } from './f';\nexport default 1;\nexport * as g from './g';";
        assert_eq!(found(source).unwrap(), "a b c e f g");
        assert_eq!((found("export * from './a'"), found("")), (None, Some(String::new())));
    }
}
