//! Visitor: dispatch of each kind of syntax to its eraser.

use std::cell::Cell;

use oxc_ast::ast::{
    ArrowFunctionExpression, AssignmentTargetPropertyIdentifier, BindingIdentifier, CallExpression, Class,
    ClassElement, ComputedMemberExpression, Decorator, Expression, FormalParameter, Function, FunctionBody,
    IdentifierReference, ImportExpression, LabeledStatement, MethodDefinition, ObjectProperty, ParenthesizedExpression,
    PropertyDefinition, ReturnStatement, Statement, StaticBlock, StaticMemberExpression, TSAsExpression,
    TSInstantiationExpression, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter, TSTypeAnnotation,
    TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation, TaggedTemplateExpression, TryStatement,
    VariableDeclaration, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Kind;
use oxc_span::GetSpan as _;
use oxc_syntax::scope::{ScopeFlags, ScopeId};

use super::super::fault::Fault;
use super::Eraser;
use super::expressions::literal;

impl<'a> Visit<'a> for Eraser<'a, '_> {
    fn enter_scope(&mut self, flags: ScopeFlags, _: &Cell<Option<ScopeId>>) {
        // The program's own scope is the one `Scopes` starts with.
        if !flags.contains(ScopeFlags::Top) {
            self.scopes.enter(flags.intersects(ScopeFlags::Var));
        }
    }

    fn leave_scope(&mut self) {
        self.scopes.leave();
    }

    fn visit_statements(&mut self, list: &oxc_allocator::ArenaVec<'a, Statement<'a>>) {
        self.statement_list(list);
    }

    fn visit_statement(&mut self, statement: &Statement<'a>) {
        self.lone_statement(statement);
    }

    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        // Nothing may come between a label and its loop.
        self.statement(&it.body);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.require_call(it);
        self.visit_expression(&it.callee);
        self.uses.call(it.callee.span());
        if let Some(arguments) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(arguments);
        }
        self.visit_arguments(&it.arguments);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.visit_expression(&it.tag);
        self.uses.call(it.tag.span());
        if let Some(arguments) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(arguments);
        }
        self.visit_template_literal(&it.quasi);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.visit_expression(&it.object);
        self.uses.member(it.object.span(), it.span, it.property.name.as_str());
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        walk::walk_computed_member_expression(self, it);
        if let Some((name, _)) = literal(&it.expression) {
            self.uses.member(it.object.span(), it.span, name);
        }
    }

    fn visit_parenthesized_expression(&mut self, it: &ParenthesizedExpression<'a>) {
        self.visit_expression(&it.expression);
        self.uses.same(it.expression.span(), it.span);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.function_depth == 0 {
            self.top_level_return(it.span.start);
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.try_statement(it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        let outer = std::mem::replace(&mut self.declaring_var, it.kind.is_var());
        for declarator in &it.declarations {
            self.declaring_var = it.kind.is_var();
            self.visit_variable_declarator(declarator);
        }
        self.declaring_var = outer;
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.visit_binding_pattern(&it.id);
        self.declaring_var = false;
        if it.definite
            && let Some(bang) = self.tokens.at_kind(it.id.span().end, Kind::Bang)
        {
            self.edits.blank(bang.start(), bang.end());
        }
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(init) = &it.init {
            self.visit_expression(init);
            self.uses.destructure(init.span(), &it.id);
        }
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        if self.declaring_var {
            self.scopes.declare_var(it.name.as_str());
        } else {
            self.scopes.declare(it.name.as_str());
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.refer(it, false);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if it.shorthand
            && let Expression::Identifier(name) = &it.value
        {
            self.refer(name, true);
            return;
        }
        walk::walk_object_property(self, it);
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.refer(&it.binding, true);
        if let Some(init) = &it.init {
            self.visit_expression(init);
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.function(it, flags);
    }

    fn visit_function_body(&mut self, it: &FunctionBody<'a>) {
        self.function_body(it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.arrow_function(it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.parameter(it);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.this_parameter(it.span);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        self.class_element(it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.method(it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.property(it);
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.function_depth += 1;
        walk::walk_static_block(self, it);
        self.function_depth -= 1;
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        let text = it.span.source_text(self.source);
        let name: String = text.chars().take_while(|c| c.is_alphanumeric() || "@_$.".contains(*c)).take(64).collect();
        self.refuse(Fault::syntax(
            it.span.start,
            format!("decorators are not supported: `{name}`"),
            "call the function on the class or the value instead",
        ));
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.edits.blank(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.edits.blank(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.edits.blank(it.span.start, it.span.end);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.uses.same(it.expression.span(), it.span);
        self.trailing_type(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.uses.same(it.expression.span(), it.span);
        self.trailing_type(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.uses.same(it.expression.span(), it.span);
        self.edits.blank(it.span.end - 1, it.span.end);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        walk::walk_ts_instantiation_expression(self, it);
        self.uses.same(it.expression.span(), it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.type_assertion(it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.dynamic_import(it);
    }
}
