//! What a module is made of, and how it is compiled.

use super::files;
use super::npm_package::NpmPackage;
use crate::config::ToolFilters;
use crate::package::PackageOutline;
use crate::project::error::ProjectError;
use crate::project::outlines::Outlines;
use crate::project::siblings::Siblings;
use capability_gen::compile::{CompileError, ModuleSource, compile};
use capability_gen::definition::{Definition, SourceKind};
use capability_gen::model::Module;
use capability_gen::sources::{self, Format, OperationFilter, Source, define_tool};
use std::path::Path;

/// All that a module depends on.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) stem: String,
    pub(super) specifier: Option<String>,
    pub(super) format: Option<Format>,
    /// The server's name, of an MCP tool list.
    pub(super) server: Option<String>,
    /// Which of its tools are functions.
    pub(super) filters: ToolFilters,
    /// Which operations of an OpenAPI document are functions.
    pub(super) operations: OperationFilter,
    /// The npm package that it comes from.
    pub(super) package: Option<NpmPackage>,
    /// The files that a definition in TypeScript imports types and constants from.
    pub(super) siblings: Option<Siblings>,
}

/// How a file was named.
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
    pub(super) fn of(file: &Path, text: String, naming: Naming, siblings: Option<Siblings>) -> Recipe {
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
            siblings,
        }
    }

    pub(super) fn compile(&self) -> Result<Module, ProjectError> {
        let mut definitions: Vec<Definition> = match &self.siblings {
            Some(siblings) => {
                files::no_operations(Path::new(&self.file), &self.operations)?;
                let tools = define_tool::parse(&self.file, &self.text, &|path| siblings.read(path))?;
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

    /// Stands for all but the files beside it.
    fn own_key(&self) -> String {
        let format = self.format.map(|format| format!("{format:?}")).unwrap_or_default();
        let specifier = self.specifier.as_deref().unwrap_or_default();
        let server = self.server.as_deref().unwrap_or_default();
        let filters = format!("{:?}", self.filters);
        let from = format!("{:?} {:?}", self.package, self.operations);
        Outlines::key([&self.file, &self.text, &self.stem, specifier, &format, server, &filters, &from])
    }

    /// Stands for everything. Which files beside it belong to that is known once it was compiled, or read from what is
    /// kept of that.
    pub(super) fn key(&self) -> String {
        let texts = self.siblings.as_ref().map(Siblings::texts).unwrap_or_default();
        let own = self.own_key();
        Outlines::key(std::iter::once(own.as_str()).chain(texts.iter().map(String::as_str)))
    }

    /// The module's names; nothing where a server has no tools, or none that is let through.
    pub(super) fn outline(&self, outlines: &Outlines) -> Result<Option<PackageOutline>, ProjectError> {
        if let Some(siblings) = &self.siblings {
            siblings.read_all(&outlines.files(&self.own_key()));
        }
        if let Some(outline) = outlines.get(&self.key()) {
            return Ok(Some(outline));
        }
        self.siblings.iter().for_each(Siblings::forget);
        let module = match self.compile() {
            Err(ProjectError::Compile(CompileError::Empty(_))) if self.format == Some(Format::Mcp) => return Ok(None),
            compiled => compiled?,
        };
        let outline = PackageOutline::of(&module);
        if let Some(siblings) = &self.siblings {
            outlines.put_files(&self.own_key(), &siblings.paths());
        }
        outlines.put(&self.key(), &outline);
        Ok(Some(outline))
    }
}

/// What an npm package brings is a library, and of its version where the definition has none of its own.
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

/// What a file with this text defines, where it is a tool definition.
pub(in crate::project) fn compile_text(file: &Path, text: &str) -> Result<Module, ProjectError> {
    Recipe::of(file, text.to_owned(), Naming { format: Some(Format::Tool), ..Naming::default() }, None).compile()
}
