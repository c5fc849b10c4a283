//! Imports and exports of a file, by name.

use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression, ImportDeclarationSpecifier,
    ModuleExportName, Statement,
};
use std::collections::HashMap;

/// The imports and exports of one file.
#[derive(Default)]
pub(super) struct Links<'a> {
    /// By local name.
    imports: HashMap<&'a str, From<'a>>,
    /// By exported name.
    exports: HashMap<&'a str, Export<'a>>,
    /// `export * from`
    pub(super) stars: Vec<(&'a str, u32)>,
}

/// Import from another module.
#[derive(Clone, Copy)]
pub(super) struct From<'a> {
    /// Module specifier as written.
    pub(super) source: &'a str,
    /// Name of the export; `None` for the whole namespace.
    pub(super) name: Option<&'a str>,
    pub(super) at: u32,
}

/// Target of an export.
#[derive(Clone, Copy)]
pub(super) enum Export<'a> {
    /// Local name.
    Local(&'a str),
    /// `export default …` of a value without a name.
    Value(&'a Expression<'a>),
    /// Re-export from another module.
    From(From<'a>),
}

impl<'a> Links<'a> {
    pub(super) fn new(body: &'a [Statement<'a>]) -> Self {
        let mut links = Self::default();
        body.iter().for_each(|statement| links.statement(statement));
        links
    }

    pub(super) fn import(&self, local: &str) -> Option<From<'a>> {
        self.imports.get(local).copied()
    }

    pub(super) fn export(&self, name: &str) -> Option<Export<'a>> {
        self.exports.get(name).copied()
    }

    /// Names of all exports, except those of `export *`.
    pub(super) fn exported(&self) -> impl Iterator<Item = &'a str> {
        self.exports.keys().copied()
    }

    fn statement(&mut self, statement: &'a Statement<'a>) {
        match statement {
            Statement::ImportDeclaration(it) => {
                for specifier in it.specifiers.iter().flatten() {
                    let (local, name) = match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(it) => (&it.local, Some(text(&it.imported))),
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => (&it.local, Some("default")),
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => (&it.local, None),
                    };
                    let from = From { source: it.source.value.as_str(), name, at: it.source.span.start };
                    self.imports.insert(local.name.as_str(), from);
                }
            }
            Statement::ExportFromDeclaration(it) => {
                for specifier in &it.specifiers {
                    let (source, at) = (it.source.value.as_str(), it.source.span.start);
                    let from = From { source, name: Some(text(&specifier.local)), at };
                    self.exports.insert(text(&specifier.exported), Export::From(from));
                }
            }
            Statement::ExportAllDeclaration(it) => {
                let (source, at) = (it.source.value.as_str(), it.source.span.start);
                match &it.exported {
                    Some(name) => {
                        self.exports.insert(text(name), Export::From(From { source, name: None, at }));
                    }
                    None => self.stars.push((source, at)),
                }
            }
            Statement::ExportNamedDeclaration(it) => {
                for specifier in &it.specifiers {
                    self.exports.insert(text(&specifier.exported), Export::Local(text(&specifier.local)));
                }
            }
            Statement::ExportDeclaration(it) => self.declaration(&it.declaration),
            Statement::ExportDefaultDeclaration(it) => {
                let export = match &it.declaration {
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(it) => {
                        Some(Export::Local(it.id.name.as_str()))
                    }
                    ExportDefaultDeclarationKind::FunctionDeclaration(it) => {
                        it.id.as_ref().map(|id| Export::Local(id.name.as_str()))
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(it) => {
                        it.id.as_ref().map(|id| Export::Local(id.name.as_str()))
                    }
                    other => other.as_expression().map(|value| match value {
                        Expression::Identifier(it) => Export::Local(it.name.as_str()),
                        value => Export::Value(value),
                    }),
                };
                self.exports.extend(export.map(|export| ("default", export)));
            }
            _ => {}
        }
    }

    fn declaration(&mut self, declaration: &'a Declaration<'a>) {
        if let Declaration::VariableDeclaration(it) = declaration {
            for declarator in &it.declarations {
                if let BindingPattern::BindingIdentifier(id) = &declarator.id {
                    self.local(id.name.as_str());
                }
            }
        } else if let Some(id) = declaration.id() {
            self.local(id.name.as_str());
        }
    }

    fn local(&mut self, name: &'a str) {
        self.exports.insert(name, Export::Local(name));
    }
}

fn text<'a>(name: &'a ModuleExportName<'a>) -> &'a str {
    match name {
        ModuleExportName::IdentifierName(it) => it.name.as_str(),
        ModuleExportName::IdentifierReference(it) => it.name.as_str(),
        ModuleExportName::StringLiteral(it) => it.value.as_str(),
    }
}
