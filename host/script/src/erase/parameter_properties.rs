//! Parameter properties: `constructor(private name: T)`.

use oxc_ast::ast::{BindingPattern, Expression, Function, FunctionBody, Statement};
use oxc_span::GetSpan as _;

use super::super::fault::Fault;
use super::Eraser;

impl<'a> Eraser<'a, '_> {
    /// Declares the fields first in the class, which starts at `class_body`, as TypeScript does; and assigns them as
    /// soon as `this` exists: at the start of the constructor's body, or after `super()`.
    pub(super) fn parameter_properties(&mut self, constructor: &Function<'a>, class_body: u32, is_derived: bool) {
        let Some(body) = &constructor.body else {
            return;
        };
        let mut declarations = String::new();
        let mut assignments = String::new();
        for parameter in &constructor.params.items {
            if parameter.accessibility.is_none() && !parameter.readonly && !parameter.r#override {
                continue;
            }
            if let BindingPattern::BindingIdentifier(id) = &parameter.pattern {
                let name = id.name.as_str();
                declarations.push_str(&format!(" {name};"));
                assignments.push_str(&format!(" this.{name} = {name};"));
            } else {
                self.refuse(Fault::syntax(
                    parameter.span.start,
                    "a parameter property cannot be a destructuring pattern",
                    "name the parameter and destructure it in the constructor's body",
                ));
            }
        }
        if assignments.is_empty() {
            return;
        }
        self.edits.insert(class_body + 1, declarations);
        let after_super = super_call_end(body);
        if is_derived && after_super.is_none() {
            self.refuse(Fault::syntax(
                body.span.start,
                "a constructor with parameter properties must call `super()` in a statement of its own",
                "add `super(…);` to the constructor's body",
            ));
        }
        match after_super.filter(|_| is_derived) {
            Some(end) => self.edits.insert(end, format!(";{assignments}")),
            None => {
                let directives = body.directives.last().map(|directive| directive.span.end);
                let at = directives.unwrap_or(body.span.start + 1);
                let separator = if directives.is_some() { ";" } else { "" };
                self.edits.insert(at, format!("{separator}{assignments}"));
            }
        }
    }
}

/// Returns the end of the first `super(…)` statement of a body.
fn super_call_end(body: &FunctionBody<'_>) -> Option<u32> {
    body.statements.iter().find_map(|statement| {
        let Statement::ExpressionStatement(statement) = statement else {
            return None;
        };
        let mut expression = &statement.expression;
        while let Expression::ParenthesizedExpression(inner) = expression {
            expression = &inner.expression;
        }
        let Expression::CallExpression(call) = expression else {
            return None;
        };
        matches!(call.callee, Expression::Super(_)).then(|| statement.span().end)
    })
}
