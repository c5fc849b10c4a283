//! Namespaces: functions that fill an object. Exports stay declarations and are also assigned to it.

use oxc_ast::ast::{
    BindingIdentifier, BindingPattern, Declaration, ImportOrExportKind, Statement, TSNamespaceDeclaration,
    TSNamespaceDeclarationBody, VariableDeclarationKind,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Kind;
use oxc_span::Span;

use super::Eraser;

impl<'a> Eraser<'a, '_> {
    /// `namespace A.B { export const x = 1 }` →
    /// `var A ;(function ($o1) { var B;(function ($o2) { const x = 1;$o2.x = x; })(B = …); })(A || (A = {}));`
    pub(super) fn namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>, export: Option<u32>) {
        let keyword = self
            .tokens
            .between(it.span.start, it.id.span.start)
            .iter()
            .map(|token| token.kind())
            .find(|kind| matches!(kind, Kind::Namespace | Kind::Module))
            .unwrap_or(Kind::Namespace);
        let name = it.id.name.as_str();
        let group = self.scopes.group(name, export.is_some());
        let object = self.open_object(&it.id, keyword, it.span.start, export);
        self.scopes.declare(name);
        self.scopes.enter_body(group, &object);

        // The names after the first in `A.B.C` are exported namespaces that hold nothing but the next one.
        let mut opening = format!(";(function ({object}) {{ ");
        let mut closings = vec![self.close_object(name, export.is_some())];
        self.namespace_objects.push(object);
        let mut levels = 1;
        let mut body = &it.body;
        let mut dots_start = None;
        while let TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) = body {
            dots_start.get_or_insert(it.id.span.end);
            let name = inner.id.name.as_str();
            let group = self.scopes.group(name, true);
            let object = self.fresh_name();
            self.export_member(name);
            self.scopes.declare(name);
            opening.push_str(&format!("var {name};(function ({object}) {{ "));
            closings.push(self.close_object(name, true));
            self.scopes.enter_body(group, &object);
            self.namespace_objects.push(object);
            levels += 1;
            body = &inner.body;
        }
        if let TSNamespaceDeclarationBody::TSModuleBlock(block) = body {
            if let Some(start) = dots_start {
                self.edits.blank(start, block.span.start);
            }
            self.edits.replace(block.span.start, block.span.start + 1, opening);
            self.statement_list(&block.body);
            closings.reverse();
            self.edits.replace(block.span.end - 1, block.span.end, closings.join(" "));
        }
        for _ in 0..levels {
            self.namespace_objects.pop();
            self.scopes.leave();
        }
    }

    /// Turns the head of an enum or namespace into a declaration of its variable; returns the object's name in the
    /// body.
    pub(super) fn open_object(
        &mut self,
        id: &BindingIdentifier<'a>,
        keyword: Kind,
        start: u32,
        export: Option<u32>,
    ) -> String {
        let name = id.name.as_str();
        let is_merged = match self.lists.last_mut() {
            Some(list) => list.hosts.contains(name) | !list.declared.insert(name),
            None => false,
        };
        if let Some(export) = export
            && (is_merged || !self.namespace_objects.is_empty())
        {
            self.edits.blank(export, export + "export".len() as u32);
        }
        if export.is_some() {
            self.export_member(name);
        }
        let declares = match (is_merged, self.scopes.holds_var()) {
            (true, _) => ";",
            (false, true) => "var",
            (false, false) => "let",
        };
        if let Some(token) = self.tokens.find(start, id.span.start, keyword) {
            let width = (token.end() - token.start()) as usize;
            self.edits.replace(token.start(), token.end(), format!("{declares:width$}"));
        }
        if is_merged {
            self.edits.blank(id.span.start, id.span.end);
        }
        self.fresh_name()
    }

    /// The end of the function that fills an object: the call with the object, existing or new.
    pub(super) fn close_object(&self, name: &str, is_exported: bool) -> String {
        match self.namespace_objects.last() {
            Some(around) if is_exported => {
                format!("}})({name} = {around}.{name} || ({around}.{name} = {{}}));")
            }
            _ => format!("}})({name} || ({name} = {{}}));"),
        }
    }

    /// Records a member of the namespace around the current statement.
    fn export_member(&mut self, name: &'a str) {
        self.scopes.add_member_here(name);
    }

    /// `export` before a variable, function or class in a namespace.
    pub(super) fn export_from_namespace(&mut self, span: Span, declaration: &Declaration<'a>) {
        self.edits.blank(span.start, span.start + "export".len() as u32);
        walk::walk_declaration(self, declaration);
        let Some(object) = self.namespace_objects.last().cloned() else {
            return;
        };
        let mut names = Names::default();
        let mut is_constant = true;
        match declaration {
            Declaration::VariableDeclaration(it) => {
                is_constant = it.kind == VariableDeclarationKind::Const;
                for declarator in &it.declarations {
                    names.visit_binding_pattern(&declarator.id);
                }
            }
            Declaration::FunctionDeclaration(it) => names.list.extend(it.id.as_ref().map(|id| id.name.as_str())),
            Declaration::ClassDeclaration(it) => names.list.extend(it.id.as_ref().map(|id| id.name.as_str())),
            _ => {}
        }
        let mut code = String::from(";");
        for name in names.list {
            self.export_member(name);
            if is_constant {
                code.push_str(&format!("{object}.{name} = {name};"));
            } else {
                // Assignments on either side must be seen on the other.
                code.push_str(&format!(
                    "Object.defineProperty({object}, \"{name}\", {{ get: () => {name}, set: {object}v => {{ {name} = \
                     {object}v; }}, enumerable: true, configurable: true }});"
                ));
            }
        }
        self.edits.insert(span.end, code);
    }
}

/// True if a namespace contains code that runs.
pub(super) fn is_instantiated(it: &TSNamespaceDeclaration<'_>) -> bool {
    let mut body = &it.body;
    loop {
        match body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => body = &inner.body,
            TSNamespaceDeclarationBody::TSModuleBlock(block) => return block.body.iter().any(runs),
        }
    }
}

fn runs(statement: &Statement<'_>) -> bool {
    let declaration = match statement {
        Statement::ExportDeclaration(it) => Some(&it.declaration),
        Statement::ImportDeclaration(it) => return it.import_kind == ImportOrExportKind::Value,
        Statement::ExportNamedDeclaration(it) => {
            return it.export_kind == ImportOrExportKind::Value;
        }
        _ => statement.as_declaration(),
    };
    match declaration {
        None => true,
        Some(declaration) => match declaration {
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_)
            | Declaration::TSGlobalDeclaration(_)
            | Declaration::TSImportEqualsDeclaration(_) => false,
            Declaration::VariableDeclaration(it) => !it.declare,
            Declaration::FunctionDeclaration(it) => !it.declare && it.body.is_some(),
            Declaration::ClassDeclaration(it) => !it.declare,
            Declaration::TSEnumDeclaration(it) => !it.declare,
            Declaration::TSNamespaceDeclaration(it) => !it.declare && is_instantiated(it),
        },
    }
}

/// The names that a pattern binds.
#[derive(Default)]
struct Names<'a> {
    list: Vec<&'a str>,
}

impl<'a> Visit<'a> for Names<'a> {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.list.push(it.name.as_str());
    }

    fn visit_binding_pattern(&mut self, it: &BindingPattern<'a>) {
        // Not into the defaults, which may hold functions with names of their own.
        match it {
            BindingPattern::AssignmentPattern(it) => self.visit_binding_pattern(&it.left),
            _ => walk::walk_binding_pattern(self, it),
        }
    }
}
