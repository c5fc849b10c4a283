//! Mistakes of a program in responses.

use agent_spaces_sandbox::program::Program;
use agent_spaces_secrets::Redactor;
use agent_spaces_serve::check::{Diagnostic, Findings};
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use agent_spaces_types::script_error::ScriptError;
use serde::Serialize;
use utoipa::ToSchema;

/// Most mistakes in unused imports that are shown.
const MAX_IMPORTS: usize = 20;

/// Mistake of a program, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Diagnostic)]
pub(crate) struct DiagnosticView {
    /// Line, from one.
    #[schema(minimum = 1)]
    line: u32,
    /// Column, from one, in code points.
    #[schema(minimum = 1)]
    column: u32,
    /// Weight.
    severity: Severity,
    /// Code: of an error that refuses the program (`script.syntax`), of the compiler (`TS2551`), `member.unknown` or
    /// `await.missing`.
    code: String,
    /// Message.
    message: String,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Weight of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// The program cannot run, or misuses a capability.
    Error,
    /// The program may be right.
    Warning,
}

impl DiagnosticView {
    /// Error of a program that cannot be prepared.
    pub(super) fn of_script(error: ScriptError, redactor: &Redactor) -> DiagnosticView {
        // Only the operator can enable a module.
        let is_withheld = error.code == Code::ImportDenied && error.specifier.is_some();
        let mut error = RunError::of_script(error);
        error.hint = error.hint.filter(|_| !is_withheld);
        DiagnosticView::of_run(error, redactor)
    }

    /// Error of a program that is refused to its caller.
    pub(super) fn of_run(error: RunError, redactor: &Redactor) -> DiagnosticView {
        let RunError { code, message, location, hint, .. } = error;
        DiagnosticView {
            line: location.as_ref().map_or(1, |location| location.line),
            column: location.as_ref().map_or(1, |location| location.column),
            severity: Severity::Error,
            code,
            message: redactor.text(&message).into_owned(),
            hint: hint.map(|hint| redactor.text(&hint).into_owned()),
        }
    }

    fn of_check(found: Diagnostic, severity: Severity, redactor: &Redactor) -> DiagnosticView {
        let Diagnostic { line, column, code, message } = found;
        let message = redactor.text(&message).into_owned();
        DiagnosticView { line, column, severity, code, message, hint: None }
    }
}

/// Returns the mistakes of a program that can run, and the number of those that were left out.
pub(super) fn all(program: &Program, findings: Findings, redactor: &Redactor) -> (Vec<DiagnosticView>, usize) {
    let Findings { misuse, warnings } = findings;
    let more = misuse.more + warnings.more + program.warnings().len().saturating_sub(MAX_IMPORTS);
    // Unused imports do no harm. Their hints may name modules that the caller does not see.
    let imports = program.warnings().iter().take(MAX_IMPORTS).map(|warning| {
        let warning = ScriptError { hint: None, ..warning.clone() };
        DiagnosticView { severity: Severity::Warning, ..DiagnosticView::of_script(warning, redactor) }
    });
    let misuse = misuse.list.into_iter().map(|found| DiagnosticView::of_check(found, Severity::Error, redactor));
    let warnings = warnings.list.into_iter().map(|found| DiagnosticView::of_check(found, Severity::Warning, redactor));
    (misuse.chain(imports).chain(warnings).collect(), more)
}

#[cfg(test)]
mod tests {
    use super::DiagnosticView;
    use agent_spaces_secrets::Redactor;
    use agent_spaces_types::code::Code;
    use agent_spaces_types::position::Position;
    use agent_spaces_types::script_error::ScriptError;
    use serde_json::json;

    #[test]
    fn an_error_has_its_place_and_its_fix_unless_that_is_for_the_operator() {
        let error = |code: Code| ScriptError::new(code, "pay.ts", "no").at(Position { line: 2, column: 3 }).hint("do");
        let shown =
            |error: ScriptError| serde_json::to_value(DiagnosticView::of_script(error, &Redactor::default())).unwrap();
        let expected = json!({
            "line": 2, "column": 3, "severity": "error", "code": "import.denied", "message": "no", "hint": "do",
        });
        assert_eq!(shown(error(Code::ImportDenied)), expected);
        assert_eq!(shown(error(Code::ImportDenied).about("@capabilities/x")).get("hint"), None);
        let nowhere = shown(ScriptError::new(Code::ScriptSyntax, "pay.ts", "no"));
        assert_eq!((&nowhere["line"], &nowhere["column"]), (&json!(1), &json!(1)));
    }
}
