//! Enums: code that fills an object, each member on its own line.

use oxc_ast::ast::{BinaryOperator, Expression, TSEnumDeclaration, TSEnumMember, TSEnumMemberName, UnaryOperator};
use oxc_ast_visit::Visit as _;
use oxc_parser::Kind;
use oxc_span::GetSpan as _;

use super::super::literal::quote;
use super::super::scopes::GroupId;
use super::Eraser;

/// Value of the next member without an initializer.
enum Next {
    Number(i64),
    /// One more than another member, given as the expression that reads it.
    After(String),
}

impl<'a> Eraser<'a, '_> {
    /// `enum E { A, B = 'b' }` → `var  E ;(function ($o1) { $o1[$o1["A"] = 0] = "A"; $o1["B"] = 'b' })(E || (E = {}));`
    ///
    /// `export` is where that keyword stands, if it does. A `const enum` is an enum like any other here: inlining it
    /// would need all files at once, and move its uses.
    pub(super) fn enum_declaration(&mut self, it: &TSEnumDeclaration<'a>, export: Option<u32>) {
        let name = it.id.name.as_str();
        let group = self.scopes.group(name, export.is_some());
        self.enum_groups.insert(name, group);
        for constant in self.tokens.between(it.span.start, it.id.span.start) {
            if constant.kind() == Kind::Const {
                self.edits.blank(constant.start(), constant.end());
            }
        }
        let object = self.open_object(&it.id, Kind::Enum, it.span.start, export);
        self.scopes.declare(name);
        self.scopes.enter_body(group, &object);
        self.edits.replace(it.body.span.start, it.body.span.start + 1, format!(";(function ({object}) {{ "));
        let mut next = Next::Number(0);
        for member in &it.body.members {
            next = self.enum_member(member, group, &object, next);
            if let Some(comma) = self.tokens.at_kind(member.span.end, Kind::Comma) {
                self.edits.replace(comma.start(), comma.end(), ";");
            }
        }
        self.scopes.leave();
        let close = self.close_object(name, export.is_some());
        self.edits.replace(it.body.span.end - 1, it.body.span.end, close);
    }

    fn enum_member(&mut self, member: &TSEnumMember<'a>, group: GroupId, object: &str, next: Next) -> Next {
        let name = member_name(&member.id);
        let key = name.map_or_else(|| member.id.span().source_text(self.source).to_owned(), quote);
        let slot = format!("{object}[{key}]");
        let is_string = member.initializer.as_ref().is_some_and(|init| self.is_string(init, group));
        if let Some(name) = name {
            self.scopes.add_member(group, name);
            self.enum_strings.entry(group).or_default().insert(name, is_string);
        }
        let Some(init) = &member.initializer else {
            let value = match &next {
                Next::Number(number) => number.to_string(),
                Next::After(slot) => format!("{slot} + 1"),
            };
            self.replace_name(member.span.start, member.span.end, format!("{object}[{slot} = {value}] = {key}"));
            return match next {
                Next::Number(number) => Next::Number(number + 1),
                Next::After(_) => Next::After(slot),
            };
        };
        let name_end = self.tokens.before(init.span().start).map_or(member.id.span().end, |equals| {
            self.tokens.before(equals.start()).map_or(equals.start(), |last| last.end())
        });
        if is_string {
            self.replace_name(member.span.start, name_end, slot.clone());
            self.visit_expression(init);
        } else {
            self.replace_name(member.span.start, name_end, format!("{object}[{slot}"));
            self.visit_expression(init);
            self.edits.insert(init.span().end, format!("] = {key}"));
        }
        integer(init).map_or(Next::After(slot), |value| Next::Number(value + 1))
    }

    /// Replaces a member's name; one that spans lines (a bracketed template) keeps them.
    fn replace_name(&mut self, start: u32, end: u32, text: String) {
        if self.spans_lines(start, end) {
            self.edits.insert(start, text);
            self.edits.blank(start, end);
        } else {
            self.edits.replace(start, end, text);
        }
    }

    /// True if a member holds a string, which has no reverse mapping. Follows TypeScript: by the form of the value.
    fn is_string(&self, expression: &Expression<'a>, group: GroupId) -> bool {
        let member = |group: GroupId, name: &str| {
            self.enum_strings.get(&group).and_then(|members| members.get(name)).copied().unwrap_or(false)
        };
        match expression {
            Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => true,
            Expression::ParenthesizedExpression(it) => self.is_string(&it.expression, group),
            Expression::TSAsExpression(it) => self.is_string(&it.expression, group),
            Expression::TSSatisfiesExpression(it) => self.is_string(&it.expression, group),
            Expression::TSNonNullExpression(it) => self.is_string(&it.expression, group),
            Expression::BinaryExpression(it) => {
                it.operator == BinaryOperator::Addition
                    && (self.is_string(&it.right, group) || self.is_string(&it.left, group))
            }
            Expression::Identifier(it) => member(group, it.name.as_str()),
            Expression::StaticMemberExpression(it) => match &it.object {
                Expression::Identifier(object) => self
                    .enum_groups
                    .get(object.name.as_str())
                    .is_some_and(|group| member(*group, it.property.name.as_str())),
                _ => false,
            },
            _ => false,
        }
    }
}

fn member_name<'a>(id: &TSEnumMemberName<'a>) -> Option<&'a str> {
    match id {
        TSEnumMemberName::Identifier(it) => Some(it.name.as_str()),
        TSEnumMemberName::String(it) | TSEnumMemberName::ComputedString(it) => {
            (!it.lone_surrogates).then(|| it.value.as_str())
        }
        TSEnumMemberName::ComputedTemplateString(it) => {
            it.quasis.first().and_then(|quasi| quasi.value.cooked.as_ref()).map(|text| text.as_str())
        }
    }
}

/// Returns the value of an integer literal, from which the next member counts on.
fn integer(expression: &Expression<'_>) -> Option<i64> {
    const LARGEST: f64 = 9_007_199_254_740_990.0;
    match expression {
        Expression::NumericLiteral(it) => {
            (it.value.fract() == 0.0 && it.value.abs() <= LARGEST).then_some(it.value as i64)
        }
        Expression::UnaryExpression(it) if it.operator == UnaryOperator::UnaryNegation => {
            integer(&it.argument).map(|value| -value)
        }
        Expression::ParenthesizedExpression(it) => integer(&it.expression),
        _ => None,
    }
}
