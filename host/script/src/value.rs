//! Value of a script, and the code that makes it the default export.

use oxc_ast::ast::{Expression, ImportOrExportKind, Program, Statement};
use oxc_span::GetSpan as _;

use super::erase::Eraser;
use super::fault::Fault;
use super::language::SourceKind;
use super::modules::{is_type_default, is_type_only};

/// Source of a script's value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    /// The author's default export.
    Default { called: bool },
    /// The value of a top-level `return`; `body` is where the statements start.
    Returned { body: u32 },
    /// Its last expression statement.
    LastExpression { start: u32, end: u32, is_sequence: bool },
    /// No value.
    None,
}

impl Value {
    pub(super) fn calls_default(self) -> bool {
        matches!(self, Self::Default { called: true })
    }

    pub(super) fn has_default(self) -> bool {
        !matches!(self, Self::None)
    }

    /// Offset that imports move to when the statements around them move into a function.
    pub(super) fn hoists_imports_to(self) -> Option<u32> {
        match self {
            Self::Returned { body } => Some(body),
            _ => None,
        }
    }
}

/// Finds the value of a walked program.
pub(super) fn find<'a>(program: &Program<'a>, kind: SourceKind, eraser: &mut Eraser<'a, '_>) -> Value {
    let has_default = program.body.iter().any(|statement| exports_default(statement, eraser));
    let first_return = eraser.top_level_returns.first().copied();
    if kind == SourceKind::CommonJs {
        return Value::None;
    }
    if kind != SourceKind::Script {
        if let Some(start) = first_return {
            eraser.refuse(Fault::syntax(
                start,
                "a module cannot return",
                "export what it offers; only the script that is run may return at the top level",
            ));
        }
        return if has_default { Value::Default { called: false } } else { Value::None };
    }
    if let Some(start) = first_return {
        if program.body.iter().any(|statement| is_export(statement, eraser)) {
            eraser.refuse(Fault::syntax(
                start,
                "a script that exports cannot also return at the top level",
                "remove the `export`, or make the value the default export instead of returning it",
            ));
        }
        let first = program.body.iter().find(|statement| !matches!(statement, Statement::ImportDeclaration(_)));
        return Value::Returned { body: first.map_or(start, |statement| statement.span().start) };
    }
    if has_default {
        return Value::Default { called: true };
    }
    let last = program.body.iter().rev().find_map(|statement| match statement {
        Statement::ExpressionStatement(it) => Some(it),
        _ => None,
    });
    if let Some(it) = last {
        return Value::LastExpression {
            start: it.span.start,
            end: it.expression.span().end,
            is_sequence: matches!(it.expression, Expression::SequenceExpression(_)),
        };
    }
    // Strings at the start parse as directives; one that means nothing to the language is the value.
    let directive = program.directives.iter().rev().find(|directive| directive.directive != "use strict");
    directive.map_or(Value::None, |it| Value::LastExpression {
        start: it.span.start,
        end: it.expression.span.end,
        is_sequence: false,
    })
}

/// Adds the default export that the author did not write.
///
/// The last expression is assigned rather than exported directly, because QuickJS records the position of an expression
/// statement but not of `export default`. The text before a statement ends in a space: QuickJS reports the start of a
/// run of characters, and that run should start where the author's does.
pub(super) fn write(value: Value, eraser: &mut Eraser<'_, '_>) {
    match value {
        Value::Default { .. } | Value::None => {}
        Value::LastExpression { start, end, is_sequence } => {
            let name = eraser.fresh_name();
            let (open, close) = if is_sequence { ("( ", ")") } else { ("", "") };
            eraser.edits.insert(start, format!("export {{ {name} as default }}; let {name}; {name} = {open}"));
            eraser.edits.insert(end, close);
        }
        Value::Returned { body } => {
            eraser.edits.insert(body, "export default (async () => { ");
            eraser.edits.insert(eraser.tokens.end(), "})();");
        }
    }
}

fn exports_default<'a>(statement: &Statement<'a>, eraser: &Eraser<'a, '_>) -> bool {
    let specifiers = match statement {
        Statement::ExportDefaultDeclaration(it) => {
            return !is_type_default(&it.declaration, eraser);
        }
        Statement::ExportAllDeclaration(it) => {
            return it.export_kind == ImportOrExportKind::Value
                && it.exported.as_ref().is_some_and(|name| name.name() == "default");
        }
        Statement::ExportNamedDeclaration(it) if it.export_kind == ImportOrExportKind::Value => &it.specifiers,
        Statement::ExportFromDeclaration(it) if it.export_kind == ImportOrExportKind::Value => &it.specifiers,
        _ => return false,
    };
    specifiers.iter().any(|specifier| {
        specifier.export_kind == ImportOrExportKind::Value
            && specifier.exported.name() == "default"
            && !specifier.local.identifier_name().is_some_and(|name| is_type_only(name.as_str(), eraser))
    })
}

/// True if a statement exports something at run time.
fn is_export<'a>(statement: &Statement<'a>, eraser: &Eraser<'a, '_>) -> bool {
    match statement {
        Statement::ExportDefaultDeclaration(it) => !is_type_default(&it.declaration, eraser),
        Statement::ExportNamedDeclaration(it) => it.export_kind == ImportOrExportKind::Value,
        Statement::ExportFromDeclaration(it) => it.export_kind == ImportOrExportKind::Value,
        Statement::ExportAllDeclaration(it) => it.export_kind == ImportOrExportKind::Value,
        Statement::ExportDeclaration(it) => !eraser.is_erased(&it.declaration),
        _ => false,
    }
}
