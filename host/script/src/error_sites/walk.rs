//! Walk over the syntax tree that lists the operations that can fail, in the order of the engine's instructions, each
//! with the offset at which the engine reports it.

use super::engine_offsets::EngineOffsets;
use super::{Operation, Site};
use oxc_ast::ast::{
    ArrayPattern, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, BinaryExpression, BinaryOperator,
    BindingProperty, CallExpression, Class, ClassElement, ComputedMemberExpression, Expression, ExpressionStatement,
    ForOfStatement, Function, IdentifierReference, MemberExpression, MethodDefinitionKind, NewExpression,
    ObjectAssignmentTarget, ObjectPattern, ObjectProperty, Program, PropertyDefinition, SimpleAssignmentTarget,
    SpreadElement, StaticBlock, StaticMemberExpression, TaggedTemplateExpression, ThrowStatement, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

/// Result of the walk.
#[derive(Default)]
pub(super) struct Found {
    /// Operations that the engine reports at the offsets in question.
    pub(super) sites: Vec<Site>,
    /// Names of declared functions.
    pub(super) declared: Vec<(u32, u32)>,
    /// Names of variables where they are written.
    pub(super) writes: Vec<(u32, u32)>,
    /// Starts of derived classes without a constructor of their own.
    pub(super) derived_classes: Vec<u32>,
}

/// Finds the operations that the engine reports at these offsets, which are sorted.
pub(super) fn find(program: &Program<'_>, engine_offsets: &EngineOffsets<'_>, offsets: &[u32]) -> Found {
    let mut walk = Walk { engine_offsets, offsets, last: 0, found: Found::default() };
    walk.visit_program(program);
    walk.found
}

struct Walk<'m> {
    engine_offsets: &'m EngineOffsets<'m>,
    /// Sorted.
    offsets: &'m [u32],
    /// The last offset that the engine recorded.
    last: u32,
    found: Found,
}

impl Walk<'_> {
    /// The engine records an offset here.
    fn record(&mut self, offset: u32) {
        self.last = self.engine_offsets.at(offset);
    }

    fn site(&mut self, operation: Operation, name: Option<Span>, start: u32, subject: Span) {
        if self.offsets.binary_search(&self.last).is_ok() {
            let name = name.map(|name| (name.start, name.end));
            self.found.sites.push(Site {
                reported: self.last,
                operation,
                name,
                start,
                subject: (subject.start, subject.end),
            });
        }
    }

    /// Walks another function, which has offsets of its own; after it the outer function continues with its last one.
    fn nested(&mut self, start: u32, work: impl FnOnce(&mut Self)) {
        let outer = self.last;
        self.record(start);
        work(self);
        self.last = outer;
    }

    fn called(&mut self, operation: Operation, callee: &Expression<'_>, start: Option<u32>) {
        let (name_start, name) = callee_name(callee);
        self.site(operation, name, start.unwrap_or(name_start), callee.span());
    }
}

impl<'a> Visit<'a> for Walk<'_> {
    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        self.record(it.span.start);
        self.visit_expression(&it.expression);
    }

    fn visit_throw_statement(&mut self, it: &ThrowStatement<'a>) {
        self.record(it.argument.span().start);
        self.visit_expression(&it.argument);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.last = it.span.start;
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        // The engine records nothing for `{ name }`.
        if !it.shorthand {
            walk::walk_object_property(self, it);
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.visit_expression(&it.callee);
        if !matches!(it.callee, Expression::Super(_)) {
            self.last = self.engine_offsets.after_parenthesis(it.callee.span().end, it.span.end);
        }
        self.visit_arguments(&it.arguments);
        self.called(Operation::Call, &it.callee, None);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.visit_expression(&it.tag);
        self.record(it.quasi.span.start);
        self.visit_template_literal(&it.quasi);
        self.called(Operation::Call, &it.tag, None);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.record(it.callee.span().start);
        self.visit_expression(&it.callee);
        self.visit_arguments(&it.arguments);
        self.called(Operation::New, &it.callee, Some(it.span.start));
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.visit_expression(&it.object);
        self.site(Operation::Read, Some(it.property.span), it.property.span.start, it.object.span());
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        self.visit_expression(&it.object);
        self.visit_expression(&it.expression);
        self.site(Operation::Read, None, it.expression.span().start, it.object.span());
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        self.visit_expression(&it.left);
        if it.operator != BinaryOperator::Exponential {
            self.record(it.right.span().start);
        }
        self.visit_expression(&it.right);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let AssignmentTarget::StaticMemberExpression(target) = &it.left else {
            match it.left.as_member_expression() {
                Some(MemberExpression::ComputedMemberExpression(target)) => {
                    self.visit_expression(&target.object);
                    self.visit_expression(&target.expression);
                    self.visit_expression(&it.right);
                    self.site(Operation::Write, None, target.expression.span().start, target.object.span());
                }
                _ => walk::walk_assignment_expression(self, it),
            }
            return;
        };
        self.visit_expression(&target.object);
        if !it.operator.is_assign() {
            self.site(Operation::Read, Some(target.property.span), target.property.span.start, target.object.span());
        }
        self.visit_expression(&it.right);
        self.site(Operation::Write, Some(target.property.span), target.property.span.start, target.object.span());
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        // The pattern comes before the value in the engine's instructions.
        if it.id.is_destructuring_pattern() {
            self.visit_binding_pattern(&it.id);
        }
        if let Some(init) = &it.init {
            self.visit_expression(init);
        }
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        let key = it.key.span();
        if it.computed {
            self.visit_property_key(&it.key);
        }
        self.site(Operation::Read, (!it.computed).then_some(key), key.start, key);
        self.visit_binding_pattern(&it.value);
    }

    fn visit_object_pattern(&mut self, it: &ObjectPattern<'a>) {
        self.site(Operation::Destructure, None, it.span.start, it.span);
        walk::walk_object_pattern(self, it);
    }

    fn visit_object_assignment_target(&mut self, it: &ObjectAssignmentTarget<'a>) {
        self.site(Operation::Destructure, None, it.span.start, it.span);
        walk::walk_object_assignment_target(self, it);
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(name) = it {
            self.found.writes.push((name.span.start, name.span.end));
        }
        walk::walk_simple_assignment_target(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let has_own = it.body.body.iter().any(|member| {
            matches!(member, ClassElement::MethodDefinition(it) if it.kind == MethodDefinitionKind::Constructor)
        });
        if it.heritage.is_some() && !has_own {
            self.found.derived_classes.push(it.span.start);
        }
        walk::walk_class(self, it);
    }

    fn visit_array_pattern(&mut self, it: &ArrayPattern<'a>) {
        self.site(Operation::Iterate, None, it.span.start, Span::empty(it.span.start));
        walk::walk_array_pattern(self, it);
        self.record(it.span.start);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.site(Operation::Iterate, None, it.right.span().start, it.right.span());
        self.visit_statement(&it.body);
        self.record(it.span.start);
    }

    fn visit_spread_element(&mut self, it: &SpreadElement<'a>) {
        self.visit_expression(&it.argument);
        self.site(Operation::Iterate, None, it.argument.span().start, it.argument.span());
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(name) = it.id.as_ref().filter(|_| it.is_function_declaration()) {
            self.found.declared.push((name.span.start, name.span.end));
        }
        self.nested(it.span.start, |walk| walk::walk_function(walk, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.nested(it.span.start, |walk| walk::walk_arrow_function_expression(walk, it));
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.nested(it.span.start, |walk| walk::walk_property_definition(walk, it));
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.nested(it.span.start, |walk| walk::walk_static_block(walk, it));
    }
}

/// Returns where a callee's name starts, and its span: of `a.b.c()` it is `c`.
fn callee_name(callee: &Expression<'_>) -> (u32, Option<Span>) {
    match callee {
        Expression::StaticMemberExpression(it) => (it.property.span.start, Some(it.property.span)),
        Expression::PrivateFieldExpression(it) => (it.field.span.start, Some(it.field.span)),
        Expression::ChainExpression(it) => match it.expression.as_member_expression() {
            Some(MemberExpression::StaticMemberExpression(it)) => (it.property.span.start, Some(it.property.span)),
            _ => (it.span.start, None),
        },
        Expression::ParenthesizedExpression(it) => callee_name(&it.expression),
        Expression::Identifier(it) => (it.span.start, Some(it.span)),
        _ => (callee.span().start, None),
    }
}
