//! Call sites: source locations where a program uses exports of capability modules.

use crate::run_error::Location;
use serde::{Deserialize, Serialize};

/// Kind of use of an imported name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    /// A call.
    Call,
    /// A reference that is not a call, as in `const remove = fileSystem.deleteFile`; it may be called elsewhere by
    /// another name.
    Mention,
}

/// One use of a capability module's export in a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramCall {
    /// Module specifier: `@capabilities/files`.
    pub module: String,
    /// Path of the export, as in `agent_spaces_script::CallSite::path`: `fileSystem.deleteFile`.
    pub path: String,
    /// Call or mention.
    pub kind: CallKind,
    /// Source location.
    pub location: Location,
}
