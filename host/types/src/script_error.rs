//! `ScriptError`: the error of a script that is refused before it runs.

use super::position::Position;
use crate::code::Code;
use serde::{Deserialize, Serialize};

/// Code of a syntax error.
pub const SYNTAX: Code = Code::ScriptSyntax;
/// Code of an import of an unknown module.
pub const IMPORT_UNKNOWN: Code = Code::ImportUnknown;
/// Code of an import that the script may not use.
pub const IMPORT_DENIED: Code = Code::ImportDenied;

/// Kind of a refused import whose hint depends on who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportFault {
    /// The module belongs to an MCP server that is switched off.
    SwitchedOff,
    /// The module is an npm package, and scripts import none.
    Package,
    /// The module is Node's `fs`, which `fs` of the standard library replaces.
    NodeFs,
    /// The module is a workspace file, and the script has no workspace.
    NoWorkspace,
}

/// Error of a script that is refused before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// `script.syntax`, `import.unknown` or `import.denied`.
    pub code: Code,
    /// Error message, one sentence without the location.
    pub message: String,
    /// File name as the caller gave it to `agent_spaces_script::prepare`.
    pub file: String,
    /// Position of the error, if it has one.
    pub position: Option<Position>,
    /// Suggested fix.
    pub hint: Option<String>,
    /// Specifier of the unknown or denied module, if that is the error.
    pub specifier: Option<String>,
    /// Kind of a refused import, if its hint depends on the reader.
    pub import_fault: Option<ImportFault>,
}

impl ScriptError {
    /// Creates an error; add the position and the hint with the methods below.
    pub fn new(code: Code, file: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            file: file.to_owned(),
            position: None,
            hint: None,
            specifier: None,
            import_fault: None,
        }
    }

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// Sets the module specifier.
    #[must_use]
    pub fn about(mut self, specifier: impl Into<String>) -> Self {
        self.specifier = Some(specifier.into());
        self
    }

    /// Sets the kind of a refused import.
    #[must_use]
    pub fn fault(mut self, fault: ImportFault) -> Self {
        self.import_fault = Some(fault);
        self
    }

    /// Sets the suggested fix.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
