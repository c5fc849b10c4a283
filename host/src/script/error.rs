//! Why a source was refused before it ran.

use super::position::Position;

/// Code of an error in the source itself.
pub const SYNTAX: &str = "script.syntax";
/// Code of an import that names nothing known.
pub const IMPORT_UNKNOWN: &str = "import.unknown";
/// Code of an import that a script may not make.
pub const IMPORT_DENIED: &str = "import.denied";

/// A source that cannot be run, and where and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// `script.syntax`, `import.unknown` or `import.denied`.
    pub code: &'static str,
    /// What is wrong, in one sentence without the place.
    pub message: String,
    /// The file as it was given to [`prepare`](super::prepare).
    pub file: String,
    /// Where it is wrong, when there is one place.
    pub position: Option<Position>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The module that was not given, where that is the reason.
    pub specifier: Option<String>,
}

impl ScriptError {
    /// An error with a code; add the place and the hint with the methods below.
    pub fn new(code: &'static str, file: &str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), file: file.to_owned(), position: None, hint: None, specifier: None }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// Says which module it is about.
    #[must_use]
    pub fn about(mut self, specifier: impl Into<String>) -> Self {
        self.specifier = Some(specifier.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
