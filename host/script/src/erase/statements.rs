//! Statements: erased, merged and refused ones.

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, Function, ImportOrExportKind, ModuleExportName, Statement,
    TSImportEqualsDeclaration, TSModuleReference,
};
use oxc_ast_visit::{Visit as _, walk};
use oxc_span::GetSpan as _;

use super::super::fault::Fault;
use super::super::language::Language;
use super::namespaces::is_instantiated;
use super::{Eraser, List};

impl<'a> Eraser<'a, '_> {
    pub(super) fn statement_list(&mut self, list: &[Statement<'a>]) {
        if self.has_objects {
            let hosts = list.iter().filter_map(host_name).collect();
            self.lists.push(List { hosts, ..List::default() });
        }
        for statement in list {
            self.landmark(statement);
            self.statement(statement);
        }
        if self.has_objects {
            self.lists.pop();
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement<'a>) {
        match statement {
            // Imports and exports are rewritten after the walk, when all names are known.
            Statement::ImportDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_) => {
                self.refuse_in_namespace(statement.span().start);
            }
            Statement::ExportNamedDeclaration(it) => {
                self.refuse_in_namespace(it.span.start);
                for specifier in &it.specifiers {
                    let is_value = it.export_kind == ImportOrExportKind::Value
                        && specifier.export_kind == ImportOrExportKind::Value;
                    if is_value && let ModuleExportName::IdentifierReference(local) = &specifier.local {
                        self.visit_identifier_reference(local);
                    }
                }
            }
            Statement::ExportDeclaration(it) => self.export_declaration(it.span, &it.declaration),
            Statement::ExportDefaultDeclaration(it) => {
                self.refuse_in_namespace(it.span.start);
                match &it.declaration {
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => {
                        self.type_name(interface.id.name.as_str());
                        self.remove(it.span.start, it.span.end);
                    }
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) if is_signature(function) => {
                        self.remove(it.span.start, it.span.end);
                    }
                    _ => walk::walk_export_default_declaration(self, it),
                }
            }
            Statement::TSExportAssignment(it) => {
                self.refuse(Fault::syntax(it.span.start, "`export =` is not supported", "use `export default` instead"))
            }
            Statement::TSNamespaceExportDeclaration(it) => self.remove(it.span.start, it.span.end),
            _ => match statement.as_declaration() {
                Some(declaration) => self.declaration(declaration),
                None => walk::walk_statement(self, statement),
            },
        }
    }

    /// A declaration that is not exported.
    fn declaration(&mut self, declaration: &Declaration<'a>) {
        if self.erased(declaration) {
            self.remove(declaration.span().start, declaration.span().end);
            return;
        }
        match declaration {
            Declaration::TSEnumDeclaration(it) => self.enum_declaration(it, None),
            Declaration::TSNamespaceDeclaration(it) => self.namespace_declaration(it, None),
            Declaration::TSImportEqualsDeclaration(it) => self.import_equals(it),
            _ => walk::walk_declaration(self, declaration),
        }
    }

    fn export_declaration(&mut self, span: oxc_span::Span, declaration: &Declaration<'a>) {
        if self.erased(declaration) {
            self.remove(span.start, span.end);
            return;
        }
        match declaration {
            Declaration::TSEnumDeclaration(it) => self.enum_declaration(it, Some(span.start)),
            Declaration::TSNamespaceDeclaration(it) => self.namespace_declaration(it, Some(span.start)),
            Declaration::TSImportEqualsDeclaration(it) => self.refuse(Fault::syntax(
                it.span.start,
                "`export import … =` is not supported",
                "use `export const` instead",
            )),
            _ if !self.namespace_objects.is_empty() => self.export_from_namespace(span, declaration),
            _ => walk::walk_declaration(self, declaration),
        }
    }

    /// True if a declaration has no code at run time; records the name of a type.
    fn erased(&mut self, declaration: &Declaration<'a>) -> bool {
        let is_erased = self.is_erased(declaration);
        // A signature without `declare` is an overload: the function itself follows.
        let name = match declaration {
            Declaration::FunctionDeclaration(it) if !it.declare => None,
            _ => declaration.id().map(|id| id.name.as_str()),
        };
        if is_erased && let Some(name) = name {
            self.type_name(name);
        }
        is_erased
    }

    /// True if a declaration has no code at run time.
    pub(in super::super) fn is_erased(&self, declaration: &Declaration<'a>) -> bool {
        self.language == Language::TypeScript
            && match declaration {
                Declaration::TSTypeAliasDeclaration(_)
                | Declaration::TSInterfaceDeclaration(_)
                | Declaration::TSExternalModuleDeclaration(_)
                | Declaration::TSGlobalDeclaration(_) => true,
                Declaration::VariableDeclaration(it) => it.declare,
                Declaration::FunctionDeclaration(it) => is_signature(it),
                Declaration::ClassDeclaration(it) => it.declare,
                Declaration::TSEnumDeclaration(it) => it.declare,
                Declaration::TSNamespaceDeclaration(it) => it.declare || !is_instantiated(it),
                Declaration::TSImportEqualsDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
            }
    }

    fn type_name(&mut self, name: &'a str) {
        if self.scopes.current() == 0 {
            self.type_names.insert(name);
        }
    }

    /// `import name = Some.entity`; `import name = require('…')` is CommonJS.
    fn import_equals(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        let mut left = match &it.module_reference {
            TSModuleReference::ExternalModuleReference(_) => {
                self.refuse(Fault::syntax(
                    it.span.start,
                    "`import … = require(…)` is not supported",
                    "use `import name from '…'` instead",
                ));
                return;
            }
            TSModuleReference::IdentifierReference(id) => {
                self.visit_identifier_reference(id);
                None
            }
            TSModuleReference::QualifiedName(name) => Some(&name.left),
        };
        while let Some(name) = left {
            left = match name {
                oxc_ast::ast::TSTypeName::QualifiedName(name) => Some(&name.left),
                oxc_ast::ast::TSTypeName::IdentifierReference(id) => {
                    self.visit_identifier_reference(id);
                    None
                }
                oxc_ast::ast::TSTypeName::ThisExpression(_) => None,
            };
        }
        self.scopes.declare(it.id.name.as_str());
        self.aliases.push((self.scopes.current(), it.id.name.as_str(), it.span.start, it.span.end));
    }

    fn refuse_in_namespace(&mut self, start: u32) {
        if !self.namespace_objects.is_empty() {
            self.refuse(Fault::syntax(
                start,
                "a namespace can export declarations only",
                "put `export` before the declaration, or move the statement out of the namespace",
            ));
        }
    }

    pub(super) fn top_level_return(&mut self, start: u32) {
        if self.namespace_objects.is_empty() {
            self.top_level_returns.push(start);
        } else {
            self.refuse(Fault::syntax(start, "a namespace cannot return", "move the statement into a function"));
        }
    }
}

/// An overload or an ambient function: a type without a body.
fn is_signature(function: &Function<'_>) -> bool {
    function.declare || function.body.is_none()
}

/// The name of a class or function that an enum or namespace of the same name merges with.
fn host_name<'a>(statement: &Statement<'a>) -> Option<&'a str> {
    let declaration = match statement {
        Statement::ExportDeclaration(it) => Some(&it.declaration),
        Statement::ExportDefaultDeclaration(it) => {
            return match &it.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(it) if !is_signature(it) => it.id.as_ref(),
                ExportDefaultDeclarationKind::ClassDeclaration(it) => it.id.as_ref(),
                _ => None,
            }
            .map(|id| id.name.as_str());
        }
        _ => statement.as_declaration(),
    };
    match declaration? {
        Declaration::FunctionDeclaration(it) if !is_signature(it) => it.id.as_ref(),
        Declaration::ClassDeclaration(it) if !it.declare => it.id.as_ref(),
        _ => None,
    }
    .map(|id| id.name.as_str())
}
