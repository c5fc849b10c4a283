//! Fault: the reason why a source is refused.

use super::position::LineIndex;
use agent_spaces_types::code::Code;
use agent_spaces_types::script_error::{SYNTAX, ScriptError};

/// Reason why a source is refused: an error without its file and line.
#[derive(Debug)]
pub struct Fault {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) start: Option<u32>,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn syntax(start: u32, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: SYNTAX, message: message.into(), start: Some(start), hint: Some(hint.into()) }
    }

    pub(super) fn into_error(self, file: &str, source: &str, lines: &LineIndex) -> ScriptError {
        ScriptError {
            code: self.code,
            message: self.message,
            file: file.to_owned(),
            position: self.start.map(|start| lines.position(source, start)),
            hint: self.hint,
            specifier: None,
            import_fault: None,
        }
    }
}
