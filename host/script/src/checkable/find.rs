//! Edits of a source for a type checker: names of modules, and syntax that only runs here.

use oxc_ast::ast::{
    ArrowFunctionExpression, CallExpression, ExportAllDeclaration, ExportFromDeclaration, Expression, Function,
    ImportDeclaration, ImportExpression, ReturnStatement, StringLiteral, TSExternalModuleDeclaration,
    TSExternalModuleReference, TSImportType,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use super::{filled, text_at};

/// Replacement of a top-level `return` without a value.
const LEAVE: &str = "_$$_()";
/// Replacement of a top-level `return` with a value: it also ends the program, and its value is still checked.
const LEAVE_WITH: &str = "throw ";

#[derive(Default)]
pub(super) struct Found {
    pub(super) edits: Vec<(Span, String)>,
    /// Names of modules, with their spans between the quotes.
    pub(super) names: Vec<(Span, String)>,
    pub(super) guarded: Vec<u32>,
}

pub(super) struct Finder<'s> {
    source: &'s str,
    function_depth: usize,
    pub(super) found: Found,
}

impl<'s> Finder<'s> {
    pub(super) fn new(source: &'s str) -> Finder<'s> {
        Finder { source, function_depth: 0, found: Found::default() }
    }

    pub(super) fn blank(&mut self, span: Span) {
        let blank = filled(text_at(self.source, span), ' ');
        self.found.edits.push((span, blank));
    }

    fn module(&mut self, it: &StringLiteral<'_>) {
        self.module_name(it.value.as_str(), it.span);
    }

    /// Adds the name of a module, given the span with its quotes.
    fn module_name(&mut self, name: &str, quoted: Span) {
        let span = Span::new(quoted.start + 1, quoted.end.saturating_sub(1));
        self.found.names.push((span, name.to_owned()));
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.module(&it.source);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.module(&it.source);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.module(&it.source);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        match &it.source {
            Expression::StringLiteral(name) => self.module(name),
            Expression::TemplateLiteral(name) if name.expressions.is_empty() => {
                let text = name.single_quasi();
                self.module_name(text.as_ref().map_or("", |text| text.as_str()), name.span);
            }
            other => self.visit_expression(other),
        }
        if let Some(options) = &it.options {
            self.visit_expression(options);
        }
    }

    fn visit_ts_import_type(&mut self, it: &TSImportType<'a>) {
        self.module(&it.source);
        walk::walk_ts_import_type(self, it);
    }

    fn visit_ts_external_module_reference(&mut self, it: &TSExternalModuleReference<'a>) {
        self.module(&it.expression);
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        self.module(&it.id);
        walk::walk_ts_external_module_declaration(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.function_depth += 1;
        walk::walk_function(self, it, flags);
        self.function_depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.function_depth += 1;
        walk::walk_arrow_function_expression(self, it);
        self.function_depth -= 1;
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.function_depth == 0 {
            let keyword = Span::new(it.span.start, it.span.start + "return".len() as u32);
            let leave = if it.argument.is_some() { LEAVE_WITH } else { LEAVE };
            self.found.edits.push((keyword, leave.to_owned()));
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if it.optional {
            self.found.guarded.push(it.callee.span().start);
        }
        walk::walk_call_expression(self, it);
    }
}
