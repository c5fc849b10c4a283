//! Member names in callees.

use oxc_ast::ast::{Expression, MemberExpression};
use oxc_span::GetSpan as _;

/// Returns the offsets of the names after the dots of a callee, in order.
pub(super) fn member_names(callee: &Expression<'_>) -> Vec<u32> {
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
