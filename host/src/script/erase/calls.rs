//! Where a call is, as an author sees it: at the name of what is called.
//!
//! QuickJS notes the token after the `(` of a call, and the one after `new`. Each of those is remembered with the place
//! it stands for, unless something else may be told at the same place.

use oxc_ast::ast::{CallExpression, Expression, NewExpression};
use oxc_span::GetSpan as _;

use super::Eraser;
use super::failing::{Names, cannot_fail};

/// A token that the engine tells, and the one that is meant, as offsets in the source.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct CallPlace {
    pub(in super::super) told: u32,
    pub(in super::super) meant: u32,
}

impl<'a> Eraser<'a, '_> {
    /// Notes a call. What its arguments do is told at the same token, so they must be such that only the call can fail.
    /// A function is told at its first token too, so it must not be the first of them.
    pub(super) fn call_place(&mut self, it: &CallExpression<'a>) {
        let told = match it.arguments.first().map(|argument| argument.as_expression()) {
            None => it.span.end.saturating_sub(1),
            Some(Some(Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_)) | None) => return,
            Some(Some(first)) => first.span().start,
        };
        let only_the_call_can_fail = it
            .arguments
            .iter()
            .all(|argument| argument.as_expression().is_some_and(|value| cannot_fail(value, Names::AreKnown)));
        // A function in which the engine noted nothing is told at the first column of its line.
        let starts_line =
            self.source.as_bytes().get(told.saturating_sub(1) as usize).is_some_and(|it| matches!(it, b'\n' | b'\r'));
        if only_the_call_can_fail
            && !starts_line
            && let Some(meant) = callee_place(&it.callee)
        {
            self.call_places.push(CallPlace { told, meant });
        }
    }

    /// Notes a `new`.
    pub(super) fn construction_place(&mut self, it: &NewExpression<'a>) {
        let told = it.callee.span().start;
        let is_class = matches!(it.callee, Expression::ClassExpression(_) | Expression::FunctionExpression(_));
        let is_apart = self.tokens.at(told).is_none_or(|token| token.is_on_new_line());
        if !is_class && !is_apart {
            self.call_places.push(CallPlace { told, meant: it.span.start });
        }
    }
}

/// The name that is called: of `a.b.c()` it is `c`. `super()` has no place of its own.
fn callee_place(callee: &Expression<'_>) -> Option<u32> {
    match callee {
        Expression::Super(_) => None,
        Expression::StaticMemberExpression(it) => Some(it.property.span.start),
        Expression::PrivateFieldExpression(it) => Some(it.field.span.start),
        Expression::TSNonNullExpression(it) => callee_place(&it.expression),
        _ => Some(callee.span().start),
    }
}
