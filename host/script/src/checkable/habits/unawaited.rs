//! Calls without `await` whose promise is used as their result.

use oxc_ast::ast::{BindingPattern, Expression, ObjectPropertyKind};
use oxc_span::{GetSpan as _, Span};

use super::HabitFinder;
use agent_spaces_types::position::Position;

/// A call whose value is used without an `await`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnawaitedCall {
    /// Start of the call.
    pub call: Position,
    /// Text of the callee on one line. `None` if it is long or has a string.
    pub callee: Option<String>,
    /// Place of the use: the member that is read of it, or the expression itself.
    pub place: Position,
    /// Code that uses the value.
    pub by: Consumer,
}

/// Code that uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// Code for which a promise is always wrong.
    Anything,
    /// A list method, which promises of lists have too.
    ListMethod,
    /// A call that starts here: wrong if it is one of a capability.
    Call(Position),
}

/// A use of a value, with offsets.
#[derive(Clone, Copy)]
pub(super) struct Use {
    pub(super) place: u32,
    pub(super) by: UsedBy,
}

/// [`Consumer`] with offsets.
#[derive(Clone, Copy)]
pub(super) enum UsedBy {
    Anything,
    ListMethod,
    Call(u32),
}

/// Members of every promise.
const PROMISE_MEMBERS: [&str; 4] = ["then", "catch", "finally", "constructor"];

/// Methods that promises of lists also have; `guest-js/src/globals/capability-promise.js` defines them.
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

/// Omits promises wherever they are in its argument.
pub(super) const STRINGIFY: &str = "JSON.stringify";

/// Built-in functions for which a promise is always the wrong argument.
const VALUE_FUNCTIONS: [&str; 19] = [
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

/// Built-in classes whose first constructor argument is a value.
pub(super) const VALUE_CLASSES: [&str; 5] = ["Map", "Set", "Date", "URL", "Uint8Array"];

/// Length limit of a shown callee, in bytes.
const MAX_CALLEE: usize = 80;

/// Returns the callee on one line. `None` if it is long or has a string: messages are redacted later, and a secret that
/// was cut, or whose whitespace changed, would not be found.
pub(super) fn shown_callee(source: &str, callee: Span) -> Option<String> {
    let text = source.get(callee.start as usize..callee.end as usize)?;
    let is_shown = text.len() <= MAX_CALLEE && !text.contains(['\'', '"', '`']);
    is_shown.then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

impl<'a> HabitFinder<'a> {
    /// The expression is used as a value, so it should not be a promise.
    pub(super) fn used_as_value(&mut self, expression: &Expression<'a>) {
        self.used(expression, Use { place: expression.span().start, by: UsedBy::Anything });
    }

    pub(super) fn used(&mut self, expression: &Expression<'a>, it: Use) {
        match expression.get_inner_expression() {
            Expression::CallExpression(call) => self.offsets.unawaited.push((call.callee.span(), it)),
            Expression::Identifier(name) => self.tested.push((name.name.as_str(), it)),
            Expression::LogicalExpression(chain) if matches!(it.by, UsedBy::Anything) => {
                self.value_chains.insert(chain.span);
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

    /// The value is destructured by a pattern.
    pub(super) fn destructured(&mut self, value: &Expression<'a>, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    let name = property.key.static_name();
                    self.read(value, name.as_deref().unwrap_or_default(), property.key.span().start);
                }
            }
            BindingPattern::ArrayPattern(it) => {
                self.used(value, Use { place: it.span.start, by: UsedBy::Anything });
                self.used_as_value(value);
            }
            _ => {}
        }
    }

    /// The value is passed on, directly or inside a list or object literal.
    pub(super) fn passed(&mut self, expression: &Expression<'a>, by: UsedBy) {
        self.passed_at(expression, Use { place: expression.span().start, by });
    }

    /// Like `passed`; a member of an object literal is reported at its name.
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

/// True if an expression is a literal.
pub(super) fn is_literal(expression: &Expression<'_>) -> bool {
    matches!(
        expression,
        Expression::StringLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::TemplateLiteral(_)
    )
}

/// Returns the built-in function of [`VALUE_FUNCTIONS`] that a callee names.
pub(super) fn value_function(callee: &Expression<'_>) -> Option<&'static str> {
    match callee {
        Expression::Identifier(it) => VALUE_FUNCTIONS.into_iter().find(|known| it.name == *known),
        Expression::StaticMemberExpression(it) => {
            let Expression::Identifier(object) = &it.object else { return None };
            let called = (object.name.as_str(), it.property.name.as_str());
            VALUE_FUNCTIONS.into_iter().find(|known| known.split_once('.') == Some(called))
        }
        _ => None,
    }
}
