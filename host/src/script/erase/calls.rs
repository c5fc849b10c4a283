//! Where a call is, as an author sees it: at the name of what is called, or at `new`.
//!
//! QuickJS notes the token after the `(` of a call, the one after `new`, and the one after a binary operator; a call is
//! told at the last it noted, which may be one of its arguments'. Each token that can only tell of a call is remembered
//! with the place it stands for.

use oxc_ast::ast::{Argument, BinaryOperator, CallExpression, Expression, NewExpression};
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
    /// Notes a call.
    pub(super) fn call_place(&mut self, it: &CallExpression<'a>) {
        let Some(meant) = callee_place(&it.callee) else { return };
        if it.arguments.iter().all(is_quiet) {
            let told = match it.arguments.first() {
                None => it.span.end.saturating_sub(1),
                // A function is told at its first token too.
                Some(Argument::FunctionExpression(_) | Argument::ArrowFunctionExpression(_)) => return,
                Some(first) => first.span().start,
            };
            // And one in which the engine noted nothing at the first column of its line.
            if !self.starts_line(told) {
                self.call_places.push(CallPlace { told, meant });
            }
        } else {
            self.last_operand(&it.arguments, meant);
        }
    }

    /// Notes a `new`.
    pub(super) fn construction_place(&mut self, it: &NewExpression<'a>) {
        let (told, meant) = (it.callee.span().start, it.span.start);
        let is_class = matches!(it.callee, Expression::ClassExpression(_) | Expression::FunctionExpression(_));
        let is_apart = self.tokens.at(told).is_none_or(|token| token.is_on_new_line());
        if !is_class && !is_apart {
            self.call_places.push(CallPlace { told, meant });
        }
        self.last_operand(&it.arguments, meant);
    }

    /// Notes the last operand of `f(a + b)`, at which the engine tells the call. Only when `b` is certain to have a value:
    /// the engine tells of its evaluation there too. That the operator itself fails is left aside.
    fn last_operand(&mut self, arguments: &[Argument<'a>], meant: u32) {
        let Some(Argument::BinaryExpression(last)) = arguments.iter().rfind(|argument| !is_quiet(argument)) else {
            return;
        };
        let told = last.right.span().start;
        let can_fail = matches!(last.operator, BinaryOperator::In | BinaryOperator::Instanceof)
            || !cannot_fail(&last.right, Names::AreKnown);
        if !can_fail && !self.starts_line(told) {
            self.call_places.push(CallPlace { told, meant });
        }
    }

    fn starts_line(&self, offset: u32) -> bool {
        let before = (offset as usize).checked_sub(1).and_then(|before| self.source.as_bytes().get(before));
        before.is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
    }
}

/// Whether an argument is certain to have a value.
fn is_quiet(argument: &Argument<'_>) -> bool {
    argument.as_expression().is_some_and(|value| cannot_fail(value, Names::AreKnown))
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
