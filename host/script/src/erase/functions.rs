//! Functions and their parameters.

use oxc_ast::ast::{ArrowFunctionExpression, FormalParameter, Function, FunctionBody};
use oxc_ast_visit::{Visit as _, walk};
use oxc_parser::Kind;
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use super::Eraser;

impl<'a> Eraser<'a, '_> {
    pub(super) fn function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.is_declaration()
            && let Some(id) = &it.id
        {
            self.scopes.declare(id.name.as_str());
        }
        let var = std::mem::replace(&mut self.declaring_var, false);
        self.function_depth += 1;
        walk::walk_function(self, it, flags);
        self.function_depth -= 1;
        self.declaring_var = var;
    }

    /// A body has a scope of its own, which the parameters do not see: `(a = b()) => { let b }` calls the outer `b`.
    pub(super) fn function_body(&mut self, it: &FunctionBody<'a>) {
        self.scopes.enter(true);
        walk::walk_function_body(self, it);
        self.scopes.leave();
    }

    /// Arrow functions are the ones whose newlines matter: none may stand before `=>`, nor after `async` or `return`.
    pub(super) fn arrow_function(&mut self, it: &ArrowFunctionExpression<'a>) {
        // Before the walk: edits at one offset apply in the order they are added.
        if let Some(parameters) = &it.type_parameters
            && self.spans_lines(parameters.span.start, it.params.span.start)
        {
            self.move_opening(parameters.span.start, it.params.span.start);
        }
        if let Some(annotation) = &it.return_type
            && self.spans_lines(it.params.span.end, annotation.span.end)
        {
            self.move_closing(it.params.span.end, annotation.span.end);
        }
        let var = std::mem::replace(&mut self.declaring_var, false);
        self.function_depth += 1;
        walk::walk_arrow_function_expression(self, it);
        self.function_depth -= 1;
        self.declaring_var = var;
    }

    /// Moves the `(` at `opening` to `start`, over the erased type parameters.
    fn move_opening(&mut self, start: u32, opening: u32) {
        self.edits.replace(start, start + 1, "(");
        self.edits.blank(opening, opening + 1);
    }

    /// Moves the `)` that ends at `closing` to the end of the erased return type.
    fn move_closing(&mut self, closing: u32, end: u32) {
        self.edits.blank(closing - 1, closing);
        self.edits.blank_to(closing, end, b')');
    }

    pub(super) fn parameter(&mut self, it: &FormalParameter<'a>) {
        self.visit_decorators(&it.decorators);
        let pattern = it.pattern.span();
        for modifier in self.tokens.between(it.span.start, pattern.start) {
            if is_parameter_modifier(modifier.kind()) {
                self.edits.blank(modifier.start(), modifier.end());
            }
        }
        self.visit_binding_pattern(&it.pattern);
        if it.optional
            && let Some(question) = self.tokens.at_kind(pattern.end, Kind::Question)
        {
            self.edits.blank(question.start(), question.end());
        }
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(initializer) = &it.initializer {
            self.visit_expression(initializer);
        }
    }

    /// Erases `this: T` and the comma after it.
    pub(super) fn this_parameter(&mut self, span: Span) {
        let end = self.tokens.at_kind(span.end, Kind::Comma).map_or(span.end, |comma| comma.end());
        self.edits.blank(span.start, end);
    }
}

fn is_parameter_modifier(kind: Kind) -> bool {
    matches!(kind, Kind::Public | Kind::Private | Kind::Protected | Kind::Readonly | Kind::Override)
}
