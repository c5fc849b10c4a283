//! Static evaluation of literals to JSON.

use super::fault::Fault;
use super::files::Files;
use super::names::{Named, Wanted};
use super::types::schema::{long, measure};
use oxc_ast::ast::{
    ArrayExpressionElement, Expression, ObjectPropertyKind, PropertyKey, PropertyKind, TSEnumDeclaration,
    TSEnumMemberName, UnaryOperator,
};
use oxc_span::GetSpan as _;
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::collections::HashMap;

/// Maximum depth of values, including constants that they refer to. Real schemas stay below 20.
const MAX_VALUE_DEPTH: u32 = 100;

/// Maximum total size of the values and types of one definition, in JSON values; long text counts as several. Constants
/// and types can be used repeatedly, so that a few lines could expand to gigabytes.
const MAX_VALUES: usize = 500_000;

/// Fix for an expression that is not a literal.
const FIX: &str = "write it as a literal, or as the name of a `const` of this file or one beside it that is one";

/// Files of a definition, and the budget left for their values.
pub(super) struct Reader<'a, 'f> {
    pub(super) files: &'f Files<'a, 'f>,
    left: Cell<usize>,
}

/// A member of an object literal.
#[derive(Clone)]
pub(super) struct Member<'a> {
    pub(super) name: String,
    /// Offset of its key.
    pub(super) at: u32,
    pub(super) value: &'a Expression<'a>,
}

impl<'a, 'f> Reader<'a, 'f> {
    pub(super) fn new(files: &'f Files<'a, 'f>) -> Self {
        Self { files, left: Cell::new(MAX_VALUES) }
    }

    /// The JSDoc comment of the node that starts here.
    pub(super) fn comment(&self, start: u32) -> Option<&'a str> {
        self.files.get(self.files.at(start))?.file().comment(start)
    }

    /// Charges the budget; fails when it is exhausted.
    pub(super) fn charge(&self, at: u32, count: usize) -> Result<(), Fault> {
        match self.left.get().checked_sub(count) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(Fault::new(
                at,
                format!("the values and types of this file expand to more than {MAX_VALUES}"),
                "split it into several files, and do not repeat large constants and types",
            )),
        }
    }

    /// The JSON value of an expression.
    pub(super) fn value(&self, expression: &'a Expression<'a>) -> Result<Value, Fault> {
        self.value_at(expression, 0)
    }

    /// The string value of an expression.
    pub(super) fn text(&self, what: &str, expression: &'a Expression<'a>) -> Result<String, Fault> {
        match self.value(expression)? {
            Value::String(text) => Ok(text),
            _ => Err(Fault::new(expression.span().start, format!("{what} is not a string"), "write it as a string")),
        }
    }

    fn value_at(&self, expression: &'a Expression<'a>, depth: u32) -> Result<Value, Fault> {
        let at = expression.span().start;
        if depth > MAX_VALUE_DEPTH {
            return Err(Fault::new(
                at,
                format!("a value is deeper than {MAX_VALUE_DEPTH} levels, or contains itself"),
                "make it flatter",
            ));
        }
        self.charge(at, 1)?;
        let surrogate =
            || Fault::new(at, "lone surrogate in a string, which JSON cannot represent", "write the whole character");
        Ok(match expression.get_inner_expression() {
            Expression::BooleanLiteral(it) => Value::Bool(it.value),
            Expression::NullLiteral(_) => Value::Null,
            Expression::NumericLiteral(it) => number(it.value, at)?,
            Expression::StringLiteral(it) if it.lone_surrogates => return Err(surrogate()),
            Expression::StringLiteral(it) => {
                self.charge(at, long(&it.value))?;
                Value::String(it.value.to_string())
            }
            Expression::TemplateLiteral(it) if it.expressions.is_empty() => match it.quasis.first() {
                Some(text) if text.lone_surrogates => return Err(surrogate()),
                text => {
                    let cooked = text.and_then(|text| text.value.cooked.as_ref()).map_or("", |text| text.as_str());
                    self.charge(at, long(cooked))?;
                    Value::String(cooked.to_owned())
                }
            },
            Expression::UnaryExpression(it)
                if matches!(it.operator, UnaryOperator::UnaryNegation | UnaryOperator::UnaryPlus) =>
            {
                let sign = if it.operator == UnaryOperator::UnaryNegation { -1.0 } else { 1.0 };
                match it.argument.get_inner_expression() {
                    Expression::NumericLiteral(it) => number(sign * it.value, at)?,
                    _ => return Err(not_a_literal(expression)),
                }
            }
            Expression::ArrayExpression(it) => {
                let mut items = Vec::with_capacity(it.elements.len());
                for element in &it.elements {
                    match element {
                        ArrayExpressionElement::SpreadElement(it) => match self.value_at(&it.argument, depth + 1)? {
                            Value::Array(more) => items.extend(more),
                            _ => return Err(Fault::new(it.span.start, "this is not an array", FIX)),
                        },
                        ArrayExpressionElement::Elision(it) => {
                            return Err(Fault::new(it.span.start, "an array has a hole", "write `null`, or remove it"));
                        }
                        element => {
                            if let Some(expression) = element.as_expression() {
                                items.push(self.value_at(expression, depth + 1)?);
                            }
                        }
                    }
                }
                Value::Array(items)
            }
            Expression::ObjectExpression(_) => {
                let mut object = Map::new();
                for member in self.members_at(expression, depth)? {
                    if self.is_undefined(member.value) {
                        continue;
                    }
                    object.insert(member.name, self.value_at(member.value, depth + 1)?);
                }
                Value::Object(object)
            }
            inner => match path(inner) {
                Some(path) => match self.named(at, &path, Wanted::Value)? {
                    Named::Constant(constant) => self.value_at(constant, depth + 1)?,
                    Named::Literal(value, _) => {
                        self.charge(at, measure(&value).0)?;
                        value
                    }
                    named => return Err(no_value(&path, named, at)),
                },
                None => return Err(not_a_literal(expression)),
            },
        })
    }

    /// The members of an object literal or of a constant; `undefined` ones are left out.
    pub(super) fn members(&self, expression: &'a Expression<'a>) -> Result<Vec<Member<'a>>, Fault> {
        let mut members = self.members_at(expression, 0)?;
        members.retain(|member| !self.is_undefined(member.value));
        Ok(members)
    }

    /// The members of an object literal, including `undefined` ones.
    pub(super) fn members_even_undefined(&self, expression: &'a Expression<'a>) -> Result<Vec<Member<'a>>, Fault> {
        self.members_at(expression, 0)
    }

    fn members_at(&self, expression: &'a Expression<'a>, depth: u32) -> Result<Vec<Member<'a>>, Fault> {
        let at = expression.span().start;
        if depth > MAX_VALUE_DEPTH {
            return Err(Fault::new(at, "a value contains itself", "write it as one literal"));
        }
        self.charge(at, 1)?;
        let object = match expression.get_inner_expression() {
            Expression::ObjectExpression(object) => object,
            Expression::Identifier(it) => match self.named(at, &[it.name.as_str()], Wanted::Value)? {
                Named::Constant(constant) => return self.members_at(constant, depth + 1),
                named => return Err(no_value(&[it.name.as_str()], named, at)),
            },
            _ => {
                return Err(Fault::new(at, format!("expected an object literal, found {}", found(expression)), FIX));
            }
        };
        let mut members = Members::default();
        for property in &object.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    for member in self.members_at(&spread.argument, depth + 1)? {
                        self.charge(at, 1 + long(&member.name))?;
                        members.set(member, false)?;
                    }
                }
                ObjectPropertyKind::ObjectProperty(property) => {
                    let at = property.key.span().start;
                    if property.kind != PropertyKind::Init {
                        return Err(Fault::new(at, "expected a value, found a getter or setter", FIX));
                    }
                    let name = key(&property.key, property.computed)?;
                    self.charge(at, 1 + long(&name))?;
                    if name == "__proto__" && !property.computed && !property.shorthand && !property.method {
                        return Err(Fault::new(
                            at,
                            "`__proto__: …` sets the prototype of an object and is not a member of it",
                            "remove it, or write `['__proto__']: …` for a member of that name",
                        ));
                    }
                    members.set(Member { name, at, value: &property.value }, true)?;
                }
            }
        }
        Ok(members.list)
    }

    /// Returns true if an expression is `undefined` or `void 0`.
    pub(super) fn is_undefined(&self, expression: &Expression<'_>) -> bool {
        match expression.get_inner_expression() {
            Expression::Identifier(it) => it.name == "undefined",
            Expression::UnaryExpression(it) => it.operator == UnaryOperator::Void,
            _ => false,
        }
    }

    /// Returns true if an expression is a function, or the name of one.
    pub(super) fn is_function(&self, expression: &'a Expression<'a>) -> Result<bool, Fault> {
        let inner = expression.get_inner_expression();
        match path(inner) {
            Some(path) => {
                let named = self.named(inner.span().start, &path, Wanted::Value)?;
                Ok(matches!(named, Named::Function))
            }
            None => Ok(is_function(inner)),
        }
    }

    /// The names and values of an enum's members.
    pub(super) fn enum_members(&self, it: &'a TSEnumDeclaration<'a>) -> Result<Vec<(String, Value)>, Fault> {
        const FIX: &str = "write its values as literals, or a union of these";
        let mut members: Vec<(String, Value)> = Vec::with_capacity(it.body.members.len());
        let mut next = Some(0);
        for member in &it.body.members {
            let at = member.span.start;
            let name = match &member.id {
                TSEnumMemberName::Identifier(it) => it.name.to_string(),
                TSEnumMemberName::String(it) | TSEnumMemberName::ComputedString(it) => it.value.to_string(),
                TSEnumMemberName::ComputedTemplateString(_) => {
                    return Err(Fault::unsupported(at, "the name of an enum's member is computed", FIX));
                }
            };
            self.charge(at, 1 + long(&name))?;
            let value = match (&member.initializer, next) {
                // Operations and references to members of the enum are not evaluated.
                (Some(value), _) => {
                    self.value(value).map_err(|fault| Fault::unsupported(fault.at, fault.message, FIX))?
                }
                (None, Some(next)) => Value::from(next),
                (None, None) => {
                    return Err(Fault::new(at, format!("the enum's member `{name}` has no value"), "give it one"));
                }
            };
            if !(value.is_string() || value.is_number()) {
                return Err(Fault::new(at, "an enum's values are strings and numbers", "write one of these"));
            }
            next = value.as_i64().and_then(|value| value.checked_add(1));
            members.push((name, value));
        }
        Ok(members)
    }
}

/// The names of `a.b.c`; `None` for other expressions.
fn path<'a>(expression: &Expression<'a>) -> Option<Vec<&'a str>> {
    match expression.get_inner_expression() {
        Expression::Identifier(it) => Some(vec![it.name.as_str()]),
        Expression::StaticMemberExpression(it) if !it.optional => {
            let mut names = path(&it.object)?;
            names.push(it.property.name.as_str());
            Some(names)
        }
        _ => None,
    }
}

pub(super) fn is_function(expression: &Expression<'_>) -> bool {
    let inner = expression.get_inner_expression();
    matches!(inner, Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_))
}

/// Error for a name without a literal value.
fn no_value(path: &[&str], named: Named<'_>, at: u32) -> Fault {
    let name = path.join(".");
    Fault::unsupported(
        at,
        match named {
            Named::Unsupported(why) => format!("`{name}` is imported, and {why}"),
            Named::Function => format!("`{name}` is a function"),
            Named::Namespace(_) => format!("`{name}` is a whole file"),
            _ => format!("`{name}` is not a `const` of this file that is a literal"),
        },
        FIX,
    )
}

/// Members by name; later ones override earlier ones.
#[derive(Default)]
struct Members<'a> {
    list: Vec<Member<'a>>,
    /// Index of each in `list`, and whether it was written in the literal itself.
    known: HashMap<String, (usize, bool)>,
}

impl<'a> Members<'a> {
    fn set(&mut self, member: Member<'a>, is_own: bool) -> Result<(), Fault> {
        match self.known.get_mut(&member.name) {
            Some((_, true)) if is_own => Err(Fault::new(
                member.at,
                format!("duplicate member `{}` in one object", member.name),
                "remove or rename one of them",
            )),
            Some((index, was_own)) => {
                *was_own |= is_own;
                if let Some(slot) = self.list.get_mut(*index) {
                    *slot = member;
                }
                Ok(())
            }
            None => {
                self.known.insert(member.name.clone(), (self.list.len(), is_own));
                self.list.push(member);
                Ok(())
            }
        }
    }
}

/// The name of a property: an identifier, a string or a number, or a string in brackets.
pub(super) fn key(key: &PropertyKey<'_>, is_computed: bool) -> Result<String, Fault> {
    match key {
        PropertyKey::StaticIdentifier(it) => Ok(it.name.to_string()),
        PropertyKey::StringLiteral(it) if !it.lone_surrogates => Ok(it.value.to_string()),
        PropertyKey::NumericLiteral(it) if !is_computed && it.value.fract() == 0.0 && it.value.abs() < 1e15 => {
            Ok(it.value.to_string())
        }
        _ => Err(Fault::new(key.span().start, "the name of a member is computed", "write it as a name or a string")),
    }
}

/// A JSON number; an integer if it has no fraction.
pub(super) fn number(value: f64, at: u32) -> Result<Value, Fault> {
    /// JavaScript's `Number.MAX_SAFE_INTEGER`.
    const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= MAX_SAFE_INTEGER {
        return Ok(Value::from(value as i64));
    }
    Number::from_f64(value)
        .map(Value::Number)
        .ok_or_else(|| Fault::new(at, "a number is too large for JSON", "write a smaller number"))
}

fn not_a_literal(expression: &Expression<'_>) -> Fault {
    Fault::unsupported(expression.span().start, format!("expected a literal value, found {}", found(expression)), FIX)
}

/// Kind of an expression, in words.
pub(super) fn found(expression: &Expression<'_>) -> &'static str {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => "a function",
        Expression::CallExpression(_) | Expression::NewExpression(_) => "a call",
        Expression::TemplateLiteral(_) => "a template with substitutions",
        Expression::TaggedTemplateExpression(_) => "a tagged template",
        Expression::BinaryExpression(_) | Expression::LogicalExpression(_) | Expression::UnaryExpression(_) => {
            "an operation"
        }
        Expression::ConditionalExpression(_) => "a conditional",
        Expression::StaticMemberExpression(_) | Expression::ComputedMemberExpression(_) => "a member of an object",
        Expression::AwaitExpression(_) => "an `await`",
        Expression::BigIntLiteral(_) => "a bigint",
        Expression::RegExpLiteral(_) => "a regular expression",
        Expression::ClassExpression(_) => "a class",
        Expression::StringLiteral(_) => "a string",
        Expression::NumericLiteral(_) => "a number",
        Expression::BooleanLiteral(_) => "a boolean",
        Expression::NullLiteral(_) => "`null`",
        Expression::ArrayExpression(_) => "an array",
        Expression::ObjectExpression(_) => "an object",
        _ => "an expression",
    }
}
