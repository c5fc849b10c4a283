//! Findings about a program's use of members: those it writes, those it tests for before use, and calls whose promise
//! is used as their result (`unawaited`). `callees` has the names in callees.

mod callees;
mod unawaited;

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, BinaryExpression, BindingIdentifier, BindingPattern,
    BindingProperty, CallExpression, ChainElement, ComputedMemberExpression, ConditionalExpression, DoWhileStatement,
    Expression, ForInStatement, ForOfStatement, ForStatement, IfStatement, LogicalExpression, MemberExpression,
    NewExpression, ObjectPropertyKind, SimpleAssignmentTarget, SpreadElement, StaticMemberExpression, SwitchStatement,
    TemplateLiteral, UnaryExpression, VariableDeclarator, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator};

use super::super::position::{LineIndex, Positions};
use agent_spaces_types::position::Position;
use callees::member_names;
use unawaited::{STRINGIFY, Use, UsedBy, VALUE_CLASSES, is_literal, shown_callee, value_function};

pub use unawaited::{Consumer, UnawaitedCall};

/// Findings about a program's use of members.
#[derive(Debug, Default)]
pub struct Habits {
    /// Positions of members that are written or deleted.
    pub written: HashSet<Position>,
    /// Positions of members that the program expects to be absent at times: `row.total ?? 0`.
    pub asked: HashSet<Position>,
    /// Names of members that objects get in other ways: `Object.assign(row, { total })`.
    pub given: HashSet<String>,
    /// Variables with computed members, which are unknown: `params[key] = value`.
    pub filled: HashSet<String>,
    /// Names that the program tests for existence: `typeof process`.
    pub probed: HashSet<String>,
    /// Calls whose promise, if they return one, is used as its value: `if (fs.exists(path))`,
    /// `fs.readFile(path).length`.
    pub unawaited: Vec<UnawaitedCall>,
    /// Positions of the names after the dots of a callee, in order, by the callee's start.
    pub callees: HashMap<Position, Vec<Position>>,
}

/// The same with offsets instead of positions.
#[derive(Default)]
pub(super) struct Offsets {
    written: Vec<u32>,
    asked: Vec<u32>,
    given: HashSet<String>,
    filled: HashSet<String>,
    probed: HashSet<String>,
    unawaited: Vec<(Span, Use)>,
    callees: Vec<(u32, Vec<u32>)>,
}

impl Offsets {
    pub(super) fn into_habits(self, source: &str, lines: &LineIndex) -> Habits {
        let mut all: Vec<u32> = [&self.written, &self.asked].into_iter().flatten().copied().collect();
        for (callee, it) in &self.unawaited {
            let called = if let UsedBy::Call(start) = it.by { Some(start) } else { None };
            all.extend([callee.start, it.place].into_iter().chain(called));
        }
        all.extend(self.callees.iter().flat_map(|(start, names)| names.iter().chain([start])));
        let positions = Positions::new(source, lines, all);
        let to_positions = |offsets: Vec<u32>| offsets.into_iter().map(|start| positions.of(start)).collect();
        let unawaited = |(callee, it): (Span, Use)| UnawaitedCall {
            call: positions.of(callee.start),
            callee: shown_callee(source, callee),
            place: positions.of(it.place),
            by: match it.by {
                UsedBy::Anything => Consumer::Anything,
                UsedBy::ListMethod => Consumer::ListMethod,
                UsedBy::Call(start) => Consumer::Call(positions.of(start)),
            },
        };
        let named = |(start, names): (u32, Vec<u32>)| {
            (positions.of(start), names.into_iter().map(|name| positions.of(name)).collect())
        };
        Habits {
            written: to_positions(self.written),
            asked: to_positions(self.asked),
            given: self.given,
            filled: self.filled,
            probed: self.probed,
            unawaited: self.unawaited.into_iter().map(unawaited).collect(),
            callees: self.callees.into_iter().map(named).collect(),
        }
    }
}

#[derive(Default)]
pub(super) struct HabitFinder<'a> {
    offsets: Offsets,
    /// Number of declarations and assignments of each name: with more than one, its value is unknown.
    declared: HashMap<&'a str, usize>,
    /// Variables that hold a call's result without `await`, with the callee.
    holding: HashMap<&'a str, Span>,
    /// Variables that are used as values, and where.
    tested: Vec<(&'a str, Use)>,
    /// Chains of `&&`, `||` and `??` whose value as a whole is tested or used.
    tested_chains: HashSet<Span>,
    value_chains: HashSet<Span>,
}

impl<'a> HabitFinder<'a> {
    pub(super) fn finish(mut self) -> Offsets {
        let is_clear = |name: &str| self.declared.get(name).is_some_and(|count| *count == 1);
        let tested = self.tested.iter().filter(|(name, _)| is_clear(name));
        self.offsets.unawaited.extend(tested.filter_map(|(name, it)| Some((*self.holding.get(name)?, *it))));
        self.offsets
    }

    /// An unknown member of this object is written.
    fn write(&mut self, object: &Expression<'a>) {
        if let Expression::Identifier(it) = object.get_inner_expression() {
            self.offsets.filled.insert(it.name.to_string());
        }
    }

    fn written_member(&mut self, member: &MemberExpression<'a>) {
        match member {
            MemberExpression::StaticMemberExpression(it) => self.offsets.written.push(it.property.span.start),
            MemberExpression::ComputedMemberExpression(it) => {
                self.offsets.written.push(it.expression.span().start);
                if !matches!(it.expression, Expression::StringLiteral(_) | Expression::NumericLiteral(_)) {
                    self.write(&it.object);
                }
            }
            MemberExpression::PrivateFieldExpression(_) => {}
        }
    }

    /// The program tests whether the value is absent.
    fn tested_for(&mut self, expression: &Expression<'a>) {
        match expression.get_inner_expression() {
            Expression::StaticMemberExpression(it) => self.offsets.asked.push(it.property.span.start),
            Expression::ComputedMemberExpression(it) => self.offsets.asked.push(it.expression.span().start),
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::StaticMemberExpression(it) => self.offsets.asked.push(it.property.span.start),
                ChainElement::ComputedMemberExpression(it) => self.offsets.asked.push(it.expression.span().start),
                _ => {}
            },
            // The walk visits its operands later, so that a chain of thousands is not traversed from each of them.
            Expression::LogicalExpression(it) => {
                self.tested_chains.insert(it.span);
            }
            _ => {}
        }
    }

    fn test(&mut self, expression: &Expression<'a>) {
        self.tested_for(expression);
        self.used_as_value(expression);
    }
}

impl<'a> Visit<'a> for HabitFinder<'a> {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let AssignmentTarget::AssignmentTargetIdentifier(name) = &it.left {
            // Its value changes later.
            *self.declared.entry(name.name.as_str()).or_default() += 1;
        }
        walk::walk_assignment_expression(self, it);
    }

    /// Targets of assignments, loops and destructuring alike.
    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        if let Some(member) = it.as_member_expression() {
            self.written_member(member);
        }
        walk::walk_simple_assignment_target(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if let (UnaryOperator::Typeof, Expression::Identifier(name)) = (it.operator, &it.argument) {
            self.offsets.probed.insert(name.name.to_string());
        }
        match it.operator {
            UnaryOperator::Delete => {
                if let Some(member) = it.argument.get_inner_expression().as_member_expression() {
                    self.written_member(member);
                }
            }
            UnaryOperator::LogicalNot => self.test(&it.argument),
            UnaryOperator::Typeof | UnaryOperator::Void => self.tested_for(&it.argument),
            _ => self.used_as_value(&it.argument),
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        let is_used_as_value = self.value_chains.remove(&it.span);
        let is_tested_for = self.tested_chains.remove(&it.span);
        self.tested_for(&it.left);
        // The last operand is tested like those before it: `answer.items ?? answer.results`.
        if is_tested_for || it.operator != LogicalOperator::And {
            self.tested_for(&it.right);
        }
        if is_used_as_value || it.operator != LogicalOperator::Coalesce {
            self.used_as_value(&it.left);
        }
        if is_used_as_value {
            self.used_as_value(&it.right);
        }
        walk::walk_logical_expression(self, it);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        if it.operator.is_equality() {
            self.tested_for(&it.left);
            self.tested_for(&it.right);
            // Two promises may be compared.
            if is_literal(&it.left) {
                self.used_as_value(&it.right);
            } else if is_literal(&it.right) {
                self.used_as_value(&it.left);
            }
        } else if it.operator == BinaryOperator::In {
            if let Expression::StringLiteral(name) = &it.left {
                self.offsets.given.insert(name.value.to_string());
            }
        } else if it.operator != BinaryOperator::Instanceof {
            self.used_as_value(&it.left);
            self.used_as_value(&it.right);
        }
        walk::walk_binary_expression(self, it);
    }

    fn visit_template_literal(&mut self, it: &TemplateLiteral<'a>) {
        it.expressions.iter().for_each(|expression| self.used_as_value(expression));
        walk::walk_template_literal(self, it);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.test(&it.test);
        walk::walk_if_statement(self, it);
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.test(&it.test);
        walk::walk_conditional_expression(self, it);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.test(&it.test);
        walk::walk_while_statement(self, it);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.test(&it.test);
        walk::walk_do_while_statement(self, it);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        if let Some(test) = &it.test {
            self.test(test);
        }
        walk::walk_for_statement(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.used_as_value(&it.right);
        walk::walk_for_of_statement(self, it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.used_as_value(&it.right);
        walk::walk_for_in_statement(self, it);
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.used_as_value(&it.discriminant);
        walk::walk_switch_statement(self, it);
    }

    fn visit_spread_element(&mut self, it: &SpreadElement<'a>) {
        self.used_as_value(&it.argument);
        walk::walk_spread_element(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if matches!(&it.callee, Expression::Identifier(name) if VALUE_CLASSES.contains(&name.name.as_str()))
            && let Some(value) = it.arguments.first().and_then(Argument::as_expression)
        {
            self.used_as_value(value);
        }
        walk::walk_new_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if it.optional {
            self.tested_for(&it.object);
        }
        self.read(&it.object, it.property.name.as_str(), it.property.span.start);
        walk::walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if it.optional {
            self.tested_for(&it.object);
        }
        let name = if let Expression::StringLiteral(name) = &it.expression { name.value.as_str() } else { "" };
        // A computed key may be a symbol.
        if matches!(it.expression, Expression::StringLiteral(_) | Expression::NumericLiteral(_)) {
            self.read(&it.object, name, it.expression.span().start);
        }
        walk::walk_computed_member_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if it.optional {
            self.tested_for(&it.callee);
        }
        let start = it.callee.span().start;
        let names = member_names(&it.callee);
        if !names.is_empty() {
            self.offsets.callees.push((start, names));
        }
        let own = value_function(&it.callee);
        for argument in it.arguments.iter().filter_map(Argument::as_expression) {
            match own {
                // Its arguments may contain promises: `Promise.all([…])`.
                Some(name) if name != STRINGIFY => self.used_as_value(argument),
                Some(_) => self.passed(argument, UsedBy::Anything),
                None => self.passed(argument, UsedBy::Call(start)),
            }
        }
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && let Expression::Identifier(object) = &callee.object
            && object.name == "Object"
            && matches!(callee.property.name.as_str(), "assign" | "defineProperty" | "defineProperties")
        {
            if let Some(target) = it.arguments.first().and_then(Argument::as_expression) {
                self.write(target);
            }
            for argument in it.arguments.iter().skip(1) {
                match argument {
                    Argument::ObjectExpression(object) => {
                        let keys = object.properties.iter().filter_map(|property| match property {
                            ObjectPropertyKind::ObjectProperty(it) => it.key.static_name(),
                            ObjectPropertyKind::SpreadProperty(_) => None,
                        });
                        self.offsets.given.extend(keys.map(|key| key.to_string()));
                    }
                    Argument::StringLiteral(name) => {
                        self.offsets.given.insert(name.value.to_string());
                    }
                    _ => {}
                }
            }
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        if matches!(it.value, BindingPattern::AssignmentPattern(_)) {
            self.offsets.asked.push(it.key.span().start);
        }
        walk::walk_binding_property(self, it);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        *self.declared.entry(it.name.as_str()).or_default() += 1;
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let Some(init) = &it.init {
            if let (BindingPattern::BindingIdentifier(name), Expression::CallExpression(call)) =
                (&it.id, init.get_inner_expression())
            {
                self.holding.insert(name.name.as_str(), call.callee.span());
            }
            self.destructured(init, &it.id);
        }
        walk::walk_variable_declarator(self, it);
    }
}

#[cfg(test)]
mod tests;
