//! Detection of infallible expressions, which need no landmark.

use oxc_ast::ast::{Expression, ObjectPropertyKind, UnaryOperator};

/// Assumption about names that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// A name may be undefined or not initialised yet.
    MayBeUnknown,
    /// All names are defined.
    AreKnown,
}

/// True if an expression cannot throw, judged by its form alone.
pub(super) fn cannot_fail(expression: &Expression<'_>, names: Names) -> bool {
    match expression {
        Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BigIntLiteral(_)
        | Expression::StringLiteral(_)
        | Expression::RegExpLiteral(_)
        | Expression::FunctionExpression(_)
        | Expression::ArrowFunctionExpression(_) => true,
        Expression::Identifier(_) | Expression::ThisExpression(_) => names == Names::AreKnown,
        Expression::TemplateLiteral(it) => it.expressions.is_empty(),
        Expression::UnaryExpression(it) => match it.operator {
            UnaryOperator::LogicalNot | UnaryOperator::Typeof | UnaryOperator::Void => cannot_fail(&it.argument, names),
            UnaryOperator::UnaryNegation => matches!(it.argument, Expression::NumericLiteral(_)),
            _ => false,
        },
        Expression::ArrayExpression(it) => it.elements.iter().all(|element| {
            element.is_elision() || element.as_expression().is_some_and(|value| cannot_fail(value, names))
        }),
        Expression::ObjectExpression(it) => it.properties.iter().all(|property| match property {
            ObjectPropertyKind::ObjectProperty(it) => !it.computed && cannot_fail(&it.value, names),
            ObjectPropertyKind::SpreadProperty(_) => false,
        }),
        Expression::ParenthesizedExpression(it) => cannot_fail(&it.expression, names),
        Expression::TSAsExpression(it) => cannot_fail(&it.expression, names),
        Expression::TSSatisfiesExpression(it) => cannot_fail(&it.expression, names),
        Expression::TSNonNullExpression(it) => cannot_fail(&it.expression, names),
        Expression::TSTypeAssertion(it) => cannot_fail(&it.expression, names),
        _ => false,
    }
}
