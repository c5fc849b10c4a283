//! Script failures mapped to the author's source: positions, names and hints.
//!
//! - `stack`: the engine's stack mapped to the author's text
//! - `missing_imports`: hints for missing imports
//! - `unknown_function`: hints for functions that a capability does not have
//! - `absent_member`: hints for members of `Intl` that the sandbox lacks

mod absent_member;
mod missing_imports;
mod stack;
mod unknown_function;

use crate::resolve::{GatedImport, ImportFacts, NamedImport};
use crate::sources::Sources;
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::program::source_info::{Restored, SourceInfo};
use agent_spaces_script::code_frame;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::position::Position;
use agent_spaces_types::run_error::{Location, RunError};
use agent_spaces_types::script_error::ScriptError;
use serde::{Deserialize, Serialize};

/// Source information of a program.
#[derive(Serialize, Deserialize)]
pub struct ProgramSource {
    /// The author's texts.
    pub sources: Sources,
    /// Imports of functions that are exports themselves.
    pub named: Vec<NamedImport>,
    /// Facts about its imports.
    pub imports: ImportFacts,
}

impl ProgramSource {
    /// Restores it from a program image. Returns `None` if another version of this program wrote it.
    pub fn from_bytes(bytes: &[u8]) -> Option<ProgramSource> {
        postcard::from_bytes(bytes).ok()
    }

    /// The first import by name of a function that is hidden from the program's caller.
    fn hidden_named(&self, program: &Program) -> Option<&NamedImport> {
        self.named.iter().find(|import| import.is_hidden(program.hidden()))
    }
}

impl SourceInfo for ProgramSource {
    /// Refuses a run whose script imports, by name, a function hidden from its caller, or a module of which the caller
    /// may call nothing. The script gets the error of a name that does not exist; the operator is notified.
    fn refused_import(&self, program: &Program, caller: &Caller) -> Option<RunError> {
        if let Some(error) = self.refusal(program, caller) {
            return Some(RunError::of_script(error));
        }
        let import = self.hidden_named(program)?;
        Some(import.error(program.modules(), program.hidden()))
    }

    fn hidden_import(&self, program: &Program) -> Option<(String, String)> {
        let import = self.hidden_named(program)?;
        Some((import.interface.clone(), import.name.clone()))
    }

    fn refusal(&self, program: &Program, caller: &Caller) -> Option<ScriptError> {
        let GatedImport { module, error, .. } = self.imports.refused(&caller.scopes)?;
        let text = format!("a script imports '{module}', but its caller lacks the scopes that its functions require");
        program.sandbox().notices().tell(module, "policy", &text);
        Some(error.clone())
    }

    fn import_of(&self, name: &str, caller: &Caller) -> Option<String> {
        self.imports.import_of(name, &caller.scopes)
    }

    fn restore_stack(&self, program: &Program, stack: &str, class: &str, message: &str) -> Restored {
        stack::restore(self, program, stack, class, message)
    }

    fn hint(&self, program: &Program, caller: &Caller, error: &RunError) -> Option<String> {
        missing_imports::hint(self, caller, error)
            .or_else(|| unknown_function::hint(self, program, error))
            .or_else(|| absent_member::hint(self, error))
    }

    fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_allocvec(self).ok()
    }

    fn code_frame(&self, location: &Location, redactor: &Redactor) -> Option<String> {
        let source = self.sources.0.get(&location.file)?;
        let text = redactor.starred(&source.text);
        Some(code_frame(&text, Position { line: location.line, column: location.column }, None))
    }
}
