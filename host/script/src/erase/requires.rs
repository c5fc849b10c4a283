//! `require('…')` in the files of npm packages.

use oxc_ast::ast::{CallExpression, Expression, TryStatement};
use oxc_ast_visit::Visit as _;

use super::super::language::SourceKind;
use super::super::scopes::ScopeId;
use super::{Eraser, literal};

/// A call of `require` with a literal; whether `require` is the global is checked after the walk.
#[derive(Debug)]
pub(in super::super) struct Require<'a> {
    pub(in super::super) specifier: &'a str,
    /// Start of the specifier.
    pub(in super::super) start: u32,
    pub(in super::super) scope: ScopeId,
    /// True in a function, which may never be called, and in a `try`.
    pub(in super::super) is_optional: bool,
}

impl<'a> Eraser<'a, '_> {
    pub(super) fn require_call(&mut self, it: &CallExpression<'a>) {
        if self.kind != SourceKind::CommonJs {
            return;
        }
        let is_require = matches!(&it.callee, Expression::Identifier(name) if name.name == "require");
        let argument = it.arguments.first().and_then(|argument| argument.as_expression()).and_then(literal);
        if let Some((specifier, span)) = argument.filter(|_| is_require) {
            let is_optional = self.function_depth > 0 || self.caught_depth > 0;
            let scope = self.scopes.current();
            self.requires.push(Require { specifier, start: span.start, scope, is_optional });
        }
    }

    pub(super) fn try_statement(&mut self, it: &TryStatement<'a>) {
        let caught = u32::from(it.handler.is_some());
        self.caught_depth += caught;
        self.visit_block_statement(&it.block);
        self.caught_depth -= caught;
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &it.finalizer {
            self.visit_block_statement(finalizer);
        }
    }
}
