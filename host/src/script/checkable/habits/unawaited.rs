//! Where a program takes a call's promise for the call's result.

use oxc_ast::ast::{BindingPattern, Expression, ObjectPropertyKind};
use oxc_span::{GetSpan as _, Span};

use super::HabitFinder;
use crate::script::position::Position;

/// A call whose value is used as it is, without an `await`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Where the call starts.
    pub(crate) call: Position,
    /// What is called, as it is written.
    pub(crate) callee: String,
    /// Where the value is used: the member that is read of it, the expression that stands for it.
    pub(crate) place: Position,
    pub(crate) by: Taker,
}

/// What uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taker {
    /// Something that a promise is always wrong for.
    Anything,
    /// A method that promises of lists have too.
    ListMethod,
    /// A call that starts here: wrong if it is one of a capability.
    Call(Position),
}

/// Where a value is used, and by what.
#[derive(Clone, Copy)]
pub(super) struct Use {
    pub(super) place: u32,
    pub(super) by: UsedBy,
}

#[derive(Clone, Copy)]
pub(super) enum UsedBy {
    Anything,
    ListMethod,
    Call(u32),
}

/// Members of every promise.
const PROMISE_MEMBERS: [&str; 4] = ["then", "catch", "finally", "constructor"];

/// Methods that promises of lists have besides; `guest-js/src/globals/capability-promise.js` gives them.
const LIST_METHODS: [&str; 26] = [
    "concat",
    "filter",
    "flat",
    "flatMap",
    "map",
    "reverse",
    "slice",
    "sort",
    "toReversed",
    "toSorted",
    "toSpliced",
    "with",
    "at",
    "every",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "forEach",
    "includes",
    "indexOf",
    "join",
    "lastIndexOf",
    "reduce",
    "reduceRight",
    "some",
];

/// It leaves promises out wherever they are.
pub(super) const STRINGIFY: &str = "JSON.stringify";

/// Functions of the language that make nothing sensible of a promise.
const TAKE_VALUES: [&str; 19] = [
    STRINGIFY,
    "JSON.parse",
    "Object.keys",
    "Object.values",
    "Object.entries",
    "Object.fromEntries",
    "Array.from",
    "Promise.all",
    "Promise.allSettled",
    "Promise.any",
    "Promise.race",
    "Number",
    "String",
    "Boolean",
    "BigInt",
    "parseInt",
    "parseFloat",
    "structuredClone",
    "isNaN",
];

/// Classes that are made from a value.
pub(super) const MADE_OF_VALUES: [&str; 5] = ["Map", "Set", "Date", "URL", "Uint8Array"];

/// The longest callee that is told, in bytes.
const MAX_CALLEE: usize = 80;

/// What is called, on one line; the end of what is long.
pub(super) fn shown_callee(source: &str, callee: Span) -> String {
    let text = source.get(callee.start as usize..callee.end as usize).unwrap_or_default();
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_CALLEE).last().unwrap_or(0);
    let shown = if text.len() > MAX_CALLEE { format!("{}…", &text[..end]) } else { text.to_owned() };
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'a> HabitFinder<'a> {
    /// The value is looked at, so it should not be a promise.
    pub(super) fn looked_at(&mut self, expression: &Expression<'a>) {
        self.used(expression, Use { place: expression.span().start, by: UsedBy::Anything });
    }

    pub(super) fn used(&mut self, expression: &Expression<'a>, it: Use) {
        match expression.get_inner_expression() {
            Expression::CallExpression(call) => self.offsets.unawaited.push((call.callee.span(), it)),
            Expression::Identifier(name) => self.tested.push((name.name.as_str(), it)),
            Expression::LogicalExpression(chain) if matches!(it.by, UsedBy::Anything) => {
                self.looked_chains.insert(chain.span);
            }
            _ => {}
        }
    }

    /// A member of the value is read.
    pub(super) fn read(&mut self, object: &Expression<'a>, name: &str, place: u32) {
        if !PROMISE_MEMBERS.contains(&name) {
            let by = if LIST_METHODS.contains(&name) { UsedBy::ListMethod } else { UsedBy::Anything };
            self.used(object, Use { place, by });
        }
    }

    /// The value is taken apart by a pattern.
    pub(super) fn taken_apart(&mut self, value: &Expression<'a>, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    let name = property.key.static_name();
                    self.read(value, name.as_deref().unwrap_or_default(), property.key.span().start);
                }
            }
            BindingPattern::ArrayPattern(it) => {
                self.used(value, Use { place: it.span.start, by: UsedBy::Anything });
                self.looked_at(value);
            }
            _ => {}
        }
    }

    /// The value is passed on, also as a part of a list or an object that is written out.
    pub(super) fn passed(&mut self, expression: &Expression<'a>, by: UsedBy) {
        self.passed_at(expression, Use { place: expression.span().start, by });
    }

    /// A member of an object is told where its name is.
    fn passed_at(&mut self, expression: &Expression<'a>, it: Use) {
        match expression.get_inner_expression() {
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    if let ObjectPropertyKind::ObjectProperty(property) = property {
                        self.passed_at(&property.value, Use { place: property.key.span().start, ..it });
                    }
                }
            }
            Expression::ArrayExpression(list) => {
                list.elements.iter().filter_map(|item| item.as_expression()).for_each(|item| self.passed(item, it.by));
            }
            value => self.used(value, it),
        }
    }
}

/// Whether an expression is a value that is written out.
pub(super) fn is_plain(expression: &Expression<'_>) -> bool {
    matches!(
        expression,
        Expression::StringLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::TemplateLiteral(_)
    )
}

/// The function of the language that is called, where it is one that is given values.
pub(super) fn takes_values(callee: &Expression<'_>) -> Option<&'static str> {
    match callee {
        Expression::Identifier(it) => TAKE_VALUES.into_iter().find(|known| it.name == *known),
        Expression::StaticMemberExpression(it) => {
            let Expression::Identifier(object) = &it.object else { return None };
            let called = (object.name.as_str(), it.property.name.as_str());
            TAKE_VALUES.into_iter().find(|known| known.split_once('.') == Some(called))
        }
        _ => None,
    }
}
