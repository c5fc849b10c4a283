//! Landmarks: `0;` statements that make the engine record the position of the statement after them.
//!
//! QuickJS records positions only for calls, `new`, `throw`, binary operators and expression statements: an error in
//! `const a = b.c.d` would be reported at the last of those before it, often lines above. So the expression statement
//! `0;` goes before statements that can fail; QuickJS drops its code and keeps its position. The number can neither
//! continue the line before nor be continued, so omitted semicolons keep their meaning.
//!
//! Without a landmark, because no statement fits there: bodies of arrow functions that are expressions, the tests of
//! `do … while` and `case`, fields, and parameters.

use oxc_ast::ast::{Class, Declaration, ExportDefaultDeclarationKind, Statement};
use oxc_parser::Kind;
use oxc_span::GetSpan as _;

use super::super::edits::Edits;
use super::Eraser;
use super::infallible::{Names, cannot_fail};

const LANDMARK: &str = "0;";

/// Landmarks of a source. They are inserted after all other edits, because they must come directly before their
/// statement, after any other insertion.
#[derive(Default)]
pub(super) struct Landmarks {
    list: Vec<Landmark>,
}

struct Landmark {
    at: u32,
    /// True if it opens a block that is closed after the statement.
    opens: bool,
}

impl Landmarks {
    pub(super) fn write(self, source: &str, edits: &mut Edits) {
        for Landmark { at, opens } in self.list {
            // QuickJS records a number at the start of the run of characters before it.
            let before = (at as usize).checked_sub(1).and_then(|before| source.as_bytes().get(before));
            let blank = if before.is_none_or(u8::is_ascii_whitespace) { "" } else { " " };
            let open = if opens { "{" } else { "" };
            edits.insert(at, format!("{blank}{open}{LANDMARK}"));
        }
    }
}

impl<'a> Eraser<'a, '_> {
    /// Adds a landmark for a statement of a list, if it needs one.
    pub(super) fn landmark(&mut self, statement: &Statement<'a>) {
        if self.needs_landmark(statement) {
            self.landmark_at(statement.span().start);
        }
    }

    pub(super) fn landmark_at(&mut self, at: u32) {
        self.landmarks.list.push(Landmark { at, opens: false });
    }

    /// Visits a statement that is not in a list but alone after `if (…)`, `else`, `do` and the like. On a line of its
    /// own, or after `else`, it gets a landmark, and a block around both.
    pub(super) fn lone_statement(&mut self, statement: &Statement<'a>) {
        let span = statement.span();
        let is_apart = self.tokens.at(span.start).is_some_and(|token| token.is_on_new_line())
            || self.tokens.before(span.start).is_some_and(|token| token.kind() == Kind::Else);
        let is_wrapped = is_apart && self.needs_landmark(statement);
        if is_wrapped {
            self.landmarks.list.push(Landmark { at: span.start, opens: true });
        }
        self.statement(statement);
        if is_wrapped {
            self.edits.insert(span.end, "}");
        }
    }

    fn needs_landmark(&self, statement: &Statement<'a>) -> bool {
        match statement {
            Statement::ReturnStatement(it) => {
                it.argument.as_ref().is_some_and(|value| !cannot_fail(value, Names::MayBeUnknown))
            }
            Statement::IfStatement(_)
            | Statement::WhileStatement(_)
            | Statement::ForStatement(_)
            | Statement::ForInStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::SwitchStatement(_) => true,
            Statement::LabeledStatement(it) => self.needs_landmark(&it.body),
            Statement::ExportDeclaration(it) => self.declaration_needs_landmark(&it.declaration),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::ClassDeclaration(class) => class_needs_landmark(class),
                // A name may be that of a type, whose export vanishes.
                kind => kind.as_expression().is_some_and(|value| !cannot_fail(value, Names::AreKnown)),
            },
            _ => statement.as_declaration().is_some_and(|it| self.declaration_needs_landmark(it)),
        }
    }

    fn declaration_needs_landmark(&self, declaration: &Declaration<'a>) -> bool {
        match declaration {
            _ if self.is_erased(declaration) => false,
            Declaration::VariableDeclaration(it) => it.declarations.iter().any(|declarator| {
                let value = declarator.init.as_ref();
                value.is_some_and(|value| {
                    declarator.id.is_destructuring_pattern() || !cannot_fail(value, Names::MayBeUnknown)
                })
            }),
            Declaration::ClassDeclaration(it) => class_needs_landmark(it),
            _ => false,
        }
    }
}

/// The `extends` expression is evaluated at the class itself; the rest is in functions of its own.
fn class_needs_landmark(class: &Class<'_>) -> bool {
    class.heritage.is_some()
}
