//! Inputs of a module, and its compilation.

use super::files;
use super::npm_package::NpmPackage;
use crate::error::ProjectError;
use crate::imported_files::ImportedFiles;
use crate::outline_cache::Outlines;
use agent_spaces_config::ToolFilters;
use agent_spaces_linker::package::PackageOutline;
use capability_gen::compile::{CompileError, ModuleSource, compile};
use capability_gen::definition::{Definition, SourceKind};
use capability_gen::model::Module;
use capability_gen::sources::{self, Format, OperationFilter, Source, define_tool};
use std::path::Path;

/// All inputs of a module.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) stem: String,
    pub(super) specifier: Option<String>,
    pub(super) format: Option<Format>,
    /// Server name, for an MCP tool list.
    pub(super) server: Option<String>,
    /// Filter that selects tools of the server.
    pub(super) filters: ToolFilters,
    /// Filter that selects operations of an OpenAPI document.
    pub(super) operations: OperationFilter,
    /// npm package that contains the definition.
    pub(super) package: Option<NpmPackage>,
    /// Files that a TypeScript definition imports types and constants from.
    pub(super) imports: Option<ImportedFiles>,
}

/// Names and options from the configuration entry of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Naming {
    pub(super) entry: String,
    pub(super) specifier: Option<String>,
    pub(super) format: Option<Format>,
    pub(super) server: Option<String>,
    pub(super) filters: ToolFilters,
    pub(super) operations: OperationFilter,
}

impl Recipe {
    pub(super) fn of(file: &Path, text: String, naming: Naming, imports: Option<ImportedFiles>) -> Recipe {
        Recipe {
            file: file.display().to_string(),
            text,
            stem: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            specifier: naming.specifier,
            format: naming.format,
            server: naming.server,
            filters: naming.filters,
            operations: naming.operations,
            package: NpmPackage::of(file),
            imports,
        }
    }

    pub(super) fn compile(&self) -> Result<Module, ProjectError> {
        let mut definitions: Vec<Definition> = match &self.imports {
            Some(imports) => {
                files::no_operations(Path::new(&self.file), &self.operations)?;
                let tools = define_tool::parse(&self.file, &self.text, &|path| imports.read(path))?;
                tools.into_iter().map(|tool| tool.definition).collect()
            }
            None => {
                let name = self.server.as_deref().unwrap_or_else(|| server_name(&self.stem));
                let source = Source { file: &self.file, text: &self.text, name: Some(name), format: self.format };
                let mut definitions = sources::parse_selected(&source, &self.operations)?;
                for definition in &mut definitions {
                    definition.functions.retain(|function| self.filters.allows(&function.name));
                }
                definitions
            }
        };
        if let Some(package) = &self.package {
            definitions.iter_mut().for_each(|definition| of_package(definition, package));
        }
        let (specifier, stem) = (self.specifier.clone(), Some(self.stem.clone()));
        Ok(compile(ModuleSource { specifier, stem, definitions })?)
    }

    /// Cache key of all inputs except imported files.
    fn own_key(&self) -> String {
        let format = self.format.map(|format| format!("{format:?}")).unwrap_or_default();
        let specifier = self.specifier.as_deref().unwrap_or_default();
        let server = self.server.as_deref().unwrap_or_default();
        let filters = format!("{:?}", self.filters);
        let from = format!("{:?} {:?}", self.package, self.operations);
        Outlines::key([&self.file, &self.text, &self.stem, specifier, &format, server, &filters, &from])
    }

    /// Cache key of all inputs. It includes imported files only after a compilation or after
    /// [`ImportedFiles::read_all`].
    pub(super) fn key(&self) -> String {
        let texts = self.imports.as_ref().map(ImportedFiles::texts).unwrap_or_default();
        let own = self.own_key();
        Outlines::key(std::iter::once(own.as_str()).chain(texts.iter().map(String::as_str)))
    }

    /// Outline of the module, from the cache or by compiling; `None` if no tool of a server passes the filters.
    pub(super) fn outline(&self, outlines: &Outlines) -> Result<Option<PackageOutline>, ProjectError> {
        if let Some(imports) = &self.imports {
            imports.read_all(&outlines.files(&self.own_key()));
        }
        if let Some(outline) = outlines.get(&self.key()) {
            return Ok(Some(outline));
        }
        self.imports.iter().for_each(ImportedFiles::forget);
        let module = match self.compile() {
            Err(ProjectError::Compile(CompileError::Empty(_))) if self.format == Some(Format::Mcp) => return Ok(None),
            compiled => compiled?,
        };
        let outline = PackageOutline::of(&module);
        if let Some(imports) = &self.imports {
            outlines.put_files(&self.own_key(), &imports.paths());
        }
        outlines.put(&self.key(), &outline);
        Ok(Some(outline))
    }
}

/// Marks a definition of an npm package as a library, and gives it the package's version if it has none.
fn of_package(definition: &mut Definition, package: &NpmPackage) {
    if definition.source == SourceKind::Tool {
        definition.source = SourceKind::Sdk;
    }
    if definition.version.is_none() {
        definition.version.clone_from(&package.version);
    }
}

/// `mcp-slack.json` lists the tools of `slack`.
fn server_name(stem: &str) -> &str {
    stem.strip_prefix("mcp-").unwrap_or(stem)
}

/// Compiles a tool definition with this text.
pub(crate) fn compile_text(file: &Path, text: &str) -> Result<Module, ProjectError> {
    Recipe::of(file, text.to_owned(), Naming { format: Some(Format::Tool), ..Naming::default() }, None).compile()
}
