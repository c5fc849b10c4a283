//! Landmarks: what tells the engine where a statement begins.
//!
//! QuickJS notes a place for calls, `new`, `throw`, binary operators and expression statements, and for nothing else:
//! an error in `const a = b.c.d` would be told at the last of those before it, often lines above. So the expression
//! statement `0;` goes before statements that can fail; QuickJS drops its code and keeps its place. The number can
//! neither continue the line before nor be continued, so semicolons that the author left out stay where they were.
//!
//! Not landmarked, for there is no place to put it: bodies of arrow functions that are expressions, the tests of
//! `do … while` and `case`, fields, and parameters.

use oxc_ast::ast::{Class, Declaration, ExportDefaultDeclarationKind, Statement};
use oxc_parser::Kind;
use oxc_span::GetSpan as _;

use super::super::edits::Edits;
use super::Eraser;
use super::failing::{Names, cannot_fail};

const LANDMARK: &str = "0;";

/// The landmarks of a source. They are written after all other edits, because they must stand directly before their
/// statement, after anything else that is put there.
#[derive(Default)]
pub(super) struct Landmarks {
    list: Vec<Landmark>,
}

struct Landmark {
    at: u32,
    /// It opens a block that is closed after the statement.
    opens: bool,
}

impl Landmarks {
    pub(super) fn write(self, source: &str, edits: &mut Edits) {
        for Landmark { at, opens } in self.list {
            // QuickJS gives a number the place where the run of characters before it starts.
            let before = (at as usize).checked_sub(1).and_then(|before| source.as_bytes().get(before));
            let blank = if before.is_none_or(u8::is_ascii_whitespace) { "" } else { " " };
            let open = if opens { "{" } else { "" };
            edits.insert(at, format!("{blank}{open}{LANDMARK}"));
        }
    }
}

impl<'a> Eraser<'a, '_> {
    /// Notes a landmark for a statement of a list.
    pub(super) fn landmark(&mut self, statement: &Statement<'a>) {
        if self.wants_landmark(statement) {
            self.landmark_at(statement.span().start);
        }
    }

    pub(super) fn landmark_at(&mut self, at: u32) {
        self.landmarks.list.push(Landmark { at, opens: false });
    }

    /// Visits a statement that is not in a list but stands alone after `if (…)`, `else`, `do` and the like. Where that
    /// is on a line of its own, or after what was said elsewhere, it gets a landmark, and a block around both.
    pub(super) fn lone_statement(&mut self, statement: &Statement<'a>) {
        let span = statement.span();
        let is_apart = self.tokens.at(span.start).is_some_and(|token| token.is_on_new_line())
            || self.tokens.before(span.start).is_some_and(|token| token.kind() == Kind::Else);
        let is_wrapped = is_apart && self.wants_landmark(statement);
        if is_wrapped {
            self.landmarks.list.push(Landmark { at: span.start, opens: true });
        }
        self.statement(statement);
        if is_wrapped {
            self.edits.insert(span.end, "}");
        }
    }

    fn wants_landmark(&self, statement: &Statement<'a>) -> bool {
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
            Statement::LabeledStatement(it) => self.wants_landmark(&it.body),
            Statement::ExportDeclaration(it) => self.declaration_wants_landmark(&it.declaration),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::ClassDeclaration(class) => class_wants_landmark(class),
                // A name may be that of a type, whose export vanishes.
                kind => kind.as_expression().is_some_and(|value| !cannot_fail(value, Names::AreKnown)),
            },
            _ => statement.as_declaration().is_some_and(|it| self.declaration_wants_landmark(it)),
        }
    }

    fn declaration_wants_landmark(&self, declaration: &Declaration<'a>) -> bool {
        match declaration {
            _ if self.is_erased(declaration) => false,
            Declaration::VariableDeclaration(it) => it.declarations.iter().any(|declarator| {
                let value = declarator.init.as_ref();
                value.is_some_and(|value| {
                    declarator.id.is_destructuring_pattern() || !cannot_fail(value, Names::MayBeUnknown)
                })
            }),
            Declaration::ClassDeclaration(it) => class_wants_landmark(it),
            _ => false,
        }
    }
}

/// What a class extends is evaluated where the class stands; the rest of it has functions of its own.
fn class_wants_landmark(class: &Class<'_>) -> bool {
    class.heritage.is_some()
}
