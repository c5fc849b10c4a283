//! How a program treats members: which it adds to objects, which it asks about before it relies on them, and where it takes
//! a call's promise for the call's result (`unawaited`).

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

use super::super::position::{LineIndex, Position, Positions};
use unawaited::{MADE_OF_VALUES, STRINGIFY, Use, UsedBy, is_plain, shown_callee, takes_values};

pub(crate) use unawaited::{Taken, Taker};

/// How a program treats members.
#[derive(Debug, Default)]
pub(crate) struct Habits {
    /// Where names of members stand that are written or deleted.
    pub(crate) written: HashSet<Position>,
    /// Where names of members stand of which the program expects that they may be absent: `row.total ?? 0`.
    pub(crate) asked: HashSet<Position>,
    /// Names of members that objects are given otherwise: `Object.assign(row, { total })`.
    pub(crate) given: HashSet<String>,
    /// Variables whose members nobody can know: `params[key] = value`.
    pub(crate) filled: HashSet<String>,
    /// Names of which the program asks whether they are there: `typeof process`.
    pub(crate) probed: HashSet<String>,
    /// Calls whose promise, if they give one, is taken for its value: `if (fs.exists(path))`, `fs.readFile(path).length`.
    pub(crate) unawaited: Vec<Taken>,
    /// Names after the dots of what is called, in order, by where the callee starts.
    pub(crate) callees: HashMap<Position, Vec<Position>>,
}

/// The same with offsets for places.
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
    pub(super) fn placed(self, source: &str, lines: &LineIndex) -> Habits {
        let mut all: Vec<u32> = [&self.written, &self.asked].into_iter().flatten().copied().collect();
        for (callee, it) in &self.unawaited {
            let called = if let UsedBy::Call(start) = it.by { Some(start) } else { None };
            all.extend([callee.start, it.place].into_iter().chain(called));
        }
        all.extend(self.callees.iter().flat_map(|(start, names)| names.iter().chain([start])));
        let positions = Positions::new(source, lines, all);
        let place = |offsets: Vec<u32>| offsets.into_iter().map(|start| positions.of(start)).collect();
        let taken = |(callee, it): (Span, Use)| Taken {
            call: positions.of(callee.start),
            callee: shown_callee(source, callee),
            place: positions.of(it.place),
            by: match it.by {
                UsedBy::Anything => Taker::Anything,
                UsedBy::ListMethod => Taker::ListMethod,
                UsedBy::Call(start) => Taker::Call(positions.of(start)),
            },
        };
        let named = |(start, names): (u32, Vec<u32>)| {
            (positions.of(start), names.into_iter().map(|name| positions.of(name)).collect())
        };
        Habits {
            written: place(self.written),
            asked: place(self.asked),
            given: self.given,
            filled: self.filled,
            probed: self.probed,
            unawaited: self.unawaited.into_iter().map(taken).collect(),
            callees: self.callees.into_iter().map(named).collect(),
        }
    }
}

#[derive(Default)]
pub(super) struct HabitFinder<'a> {
    offsets: Offsets,
    /// How often each name is declared: a name that is declared twice means now this, now that.
    declared: HashMap<&'a str, usize>,
    /// Variables that hold what a call gives, as it is: their names and what is called.
    holding: HashMap<&'a str, Span>,
    /// Variables that are taken for values, and where.
    tested: Vec<(&'a str, Use)>,
    /// Chains of `&&`, `||` and `??` whose value as a whole is asked about or looked at.
    asked_chains: HashSet<Span>,
    looked_chains: HashSet<Span>,
}

impl<'a> HabitFinder<'a> {
    pub(super) fn finish(mut self) -> Offsets {
        let is_clear = |name: &str| self.declared.get(name).is_some_and(|count| *count == 1);
        let tested = self.tested.iter().filter(|(name, _)| is_clear(name));
        self.offsets.unawaited.extend(tested.filter_map(|(name, it)| Some((*self.holding.get(name)?, *it))));
        self.offsets
    }

    /// A member is written through this expression.
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

    /// The value may be absent, for all that the program knows.
    fn asked_about(&mut self, expression: &Expression<'a>) {
        match expression.get_inner_expression() {
            Expression::StaticMemberExpression(it) => self.offsets.asked.push(it.property.span.start),
            Expression::ComputedMemberExpression(it) => self.offsets.asked.push(it.expression.span().start),
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::StaticMemberExpression(it) => self.offsets.asked.push(it.property.span.start),
                ChainElement::ComputedMemberExpression(it) => self.offsets.asked.push(it.expression.span().start),
                _ => {}
            },
            // Its members' turn comes when the walk does: a chain of thousands is not gone through from each of its ends.
            Expression::LogicalExpression(it) => {
                self.asked_chains.insert(it.span);
            }
            _ => {}
        }
    }

    fn test(&mut self, expression: &Expression<'a>) {
        self.asked_about(expression);
        self.looked_at(expression);
    }
}

impl<'a> Visit<'a> for HabitFinder<'a> {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let AssignmentTarget::AssignmentTargetIdentifier(name) = &it.left {
            // It holds something else later.
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
            UnaryOperator::Typeof | UnaryOperator::Void => self.asked_about(&it.argument),
            _ => self.looked_at(&it.argument),
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        let is_looked_at = self.looked_chains.remove(&it.span);
        let is_asked_about = self.asked_chains.remove(&it.span);
        self.asked_about(&it.left);
        // What comes last is asked about as what came before it: `answer.items ?? answer.results`.
        if is_asked_about || it.operator != LogicalOperator::And {
            self.asked_about(&it.right);
        }
        if is_looked_at || it.operator != LogicalOperator::Coalesce {
            self.looked_at(&it.left);
        }
        if is_looked_at {
            self.looked_at(&it.right);
        }
        walk::walk_logical_expression(self, it);
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        if it.operator.is_equality() {
            self.asked_about(&it.left);
            self.asked_about(&it.right);
            // Two promises may be compared.
            if is_plain(&it.left) {
                self.looked_at(&it.right);
            } else if is_plain(&it.right) {
                self.looked_at(&it.left);
            }
        } else if it.operator == BinaryOperator::In {
            if let Expression::StringLiteral(name) = &it.left {
                self.offsets.given.insert(name.value.to_string());
            }
        } else if it.operator != BinaryOperator::Instanceof {
            self.looked_at(&it.left);
            self.looked_at(&it.right);
        }
        walk::walk_binary_expression(self, it);
    }

    fn visit_template_literal(&mut self, it: &TemplateLiteral<'a>) {
        it.expressions.iter().for_each(|expression| self.looked_at(expression));
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
        self.looked_at(&it.right);
        walk::walk_for_of_statement(self, it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.looked_at(&it.right);
        walk::walk_for_in_statement(self, it);
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.looked_at(&it.discriminant);
        walk::walk_switch_statement(self, it);
    }

    fn visit_spread_element(&mut self, it: &SpreadElement<'a>) {
        self.looked_at(&it.argument);
        walk::walk_spread_element(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if matches!(&it.callee, Expression::Identifier(name) if MADE_OF_VALUES.contains(&name.name.as_str()))
            && let Some(value) = it.arguments.first().and_then(Argument::as_expression)
        {
            self.looked_at(value);
        }
        walk::walk_new_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if it.optional {
            self.asked_about(&it.object);
        }
        self.read(&it.object, it.property.name.as_str(), it.property.span.start);
        walk::walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if it.optional {
            self.asked_about(&it.object);
        }
        let name = if let Expression::StringLiteral(name) = &it.expression { name.value.as_str() } else { "" };
        // A symbol may be that of anything.
        if matches!(it.expression, Expression::StringLiteral(_) | Expression::NumericLiteral(_)) {
            self.read(&it.object, name, it.expression.span().start);
        }
        walk::walk_computed_member_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if it.optional {
            self.asked_about(&it.callee);
        }
        let start = it.callee.span().start;
        let names = member_names(&it.callee);
        if !names.is_empty() {
            self.offsets.callees.push((start, names));
        }
        let own = takes_values(&it.callee);
        for argument in it.arguments.iter().filter_map(Argument::as_expression) {
            match own {
                // What it is given may hold promises elsewhere: `Promise.all([…])`.
                Some(name) if name != STRINGIFY => self.looked_at(argument),
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
            self.taken_apart(init, &it.id);
        }
        walk::walk_variable_declarator(self, it);
    }
}

/// Where the names after the dots of a callee are, in order.
fn member_names(callee: &Expression<'_>) -> Vec<u32> {
    let mut names = Vec::new();
    let mut at = callee.get_inner_expression();
    loop {
        let member = match at {
            Expression::ChainExpression(it) => it.expression.as_member_expression(),
            other => other.as_member_expression(),
        };
        let (name, object) = match member {
            Some(MemberExpression::StaticMemberExpression(it)) => (it.property.span.start, &it.object),
            Some(MemberExpression::ComputedMemberExpression(it)) => (it.expression.span().start, &it.object),
            _ => break,
        };
        names.push(name);
        at = object.get_inner_expression();
    }
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use super::Taker;
    use crate::script::checkable;
    use crate::script::position::Position;
    use std::collections::{BTreeSet, HashSet};

    /// The text from each place up to what is no name.
    fn names(code: &str, places: &HashSet<Position>) -> Vec<String> {
        let starts: BTreeSet<usize> = places.iter().map(|place| place.column as usize - 1).collect();
        let name = |start: usize| {
            let rest = &code[start..];
            rest[..rest.find(|it: char| !it.is_alphanumeric() && it != '.').unwrap_or(rest.len())].to_owned()
        };
        starts.into_iter().map(name).collect()
    }

    #[test]
    fn members_that_are_written_are_known() {
        let code = "a.b = 1; a.c.d += 2; a.e++; delete a.f; [a.g, { h: a.i }] = x; for (a.j of y); a.read; a[k] = 1;";
        let habits = checkable(code, "f").unwrap().habits;
        assert_eq!(names(code, &habits.written), ["b", "d", "e", "f", "g", "i", "j", "k"]);
        assert_eq!(habits.filled, HashSet::from(["a".to_owned()]));
        let given = "Object.assign(row, { total: 1, rate }); 'extra' in row;";
        let mut given: Vec<String> = checkable(given, "f").unwrap().habits.given.into_iter().collect();
        given.sort();
        assert_eq!(given, ["extra", "rate", "total"]);
    }

    #[test]
    fn members_that_may_be_absent_are_known() {
        let code =
            "a.b ?? a.c; if (a.d) a.x; !a.e; a.f?.g.h; a.i && a.y; const { j = 1, z } = a; a.k === null; a.l?.();";
        let asked = checkable(code, "f").unwrap().habits.asked;
        assert_eq!(names(code, &asked), ["b", "c", "d", "e", "f", "i", "j", "k", "l"]);
    }

    fn unawaited(code: &str) -> Vec<String> {
        let unawaited = checkable(code, "f").unwrap().habits.unawaited;
        let wrong = unawaited.iter().filter(|it| it.by == Taker::Anything);
        names(code, &wrong.map(|it| it.call).collect())
    }

    #[test]
    fn calls_whose_promise_is_looked_at_are_known() {
        let code =
            "if (a.b()) 1; `${c()}`; d() + 1; !e(); f() && 1; (await g()) > 1; const h = i(); if (h) 1; j(); k() ?? 1;";
        assert_eq!(unawaited(code), ["a.b", "c", "d", "e", "f", "i"]);
        let members =
            "a.b().length; const c = d.e(); c.name; f()['x']; g()[0]; h()?.i; const { j } = k(); const [l] = m();";
        assert_eq!(unawaited(members), ["a.b", "d.e", "f", "g", "h", "k", "m"]);
        let whole = "for (const a of b()); for (const c in d()); [...e()]; f(...g()); ({ ...h() }); JSON.stringify({ i: i() }); \
                     switch (j()) {} k() === 'x'; new Set(l());";
        assert_eq!(unawaited(whole), ["b", "d", "e", "g", "h", "i", "j", "k", "l"]);
        for fine in [
            "const h = i(); await h;",
            "let h = i(); h = null; if (h) 1;",
            "const h = i(); function f(h) { return !h; }",
            "const h = await i(); if (h) 1;",
            "const h = i(); h.then(f); h.catch(g).finally(f); const { then } = i(); a() === b(); i()[Symbol.iterator];",
            "(await i()).length; for (const h of await i()); ({ ...(await i()) }); JSON.stringify(await i());",
            "i().map(f); i().filter(f); await Promise.all([i(), i()]);",
        ] {
            assert_eq!(unawaited(fine), Vec::<String>::new(), "{fine}");
        }
    }

    #[test]
    fn what_is_passed_to_a_call_is_known() {
        let code = "a.b(c()); d({ e: [f()] }); const g = h(); i({ g });";
        let unawaited = checkable(code, "f").unwrap().habits.unawaited;
        let text = |place: Position| &code[place.column as usize - 1..][..1];
        let passed: Vec<_> = unawaited
            .iter()
            .filter_map(|it| if let Taker::Call(to) = it.by { Some((text(it.call), text(to))) } else { None })
            .collect();
        assert_eq!(passed, [("c", "a"), ("f", "d"), ("h", "i")]);
    }

    #[test]
    fn names_of_callees_are_known_by_their_places() {
        let code = "a.b.c(); d['e'](); f?.g(); h();";
        let callees = checkable(code, "f").unwrap().habits.callees;
        let columns = |column: u32| {
            let names = callees.get(&Position { line: 1, column })?;
            Some(names.iter().map(|name| name.column).collect::<Vec<_>>())
        };
        assert_eq!(columns(1), Some(vec![3, 5]));
        assert_eq!(columns(10), Some(vec![12]));
        assert_eq!(columns(20), Some(vec![23]));
        assert_eq!(columns(28), None);
    }
}
