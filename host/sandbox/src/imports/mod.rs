//! Imported functions of a sandbox, and the imports of a run.
//!
//! - `function`: one imported function; `answer`: conversion of its answers; `host_call`: calls made by the host
//! - `hidden`: functions hidden from a caller

mod answer;
mod function;
mod hidden;
mod host_call;

pub(crate) use answer::ConvertedAnswer;
pub use function::ImportedFunction;
pub(crate) use function::end_event;
pub use hidden::Hidden;
pub use host_call::HostCall;

use crate::modules::Modules;
use agent_spaces_calls::run_rules::RunRules;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::function::Description;
use hidden::GatedFunctions;
use std::sync::Arc;

/// Modules and functions that a run can import; cheap to clone.
#[derive(Clone)]
pub struct RunImports {
    /// Modules of its program.
    pub(crate) modules: Arc<Modules>,
    /// Functions hidden from its caller.
    pub(crate) hidden: Arc<Hidden>,
    /// Functions of its sandbox.
    pub(crate) functions: Arc<ImportedFunctions>,
}

/// Functions that a sandbox imports, with the description of their interfaces and the settings of their calls.
pub(crate) struct ImportedFunctions {
    functions: Vec<Arc<ImportedFunction>>,
    gated: GatedFunctions,
    description: Description,
    rules: RunRules,
}

impl ImportedFunctions {
    pub(crate) fn new(
        functions: Vec<Arc<ImportedFunction>>,
        description: Description,
        rules: RunRules,
    ) -> ImportedFunctions {
        let gated = GatedFunctions::new(functions.iter().cloned());
        ImportedFunctions { functions, gated, description, rules }
    }

    /// Returns the description of their interfaces.
    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the settings that all runs share.
    pub(crate) fn rules(&self) -> &RunRules {
        &self.rules
    }

    /// Returns the functions hidden from a caller.
    pub(crate) fn hidden(&self, caller: &Caller) -> Arc<Hidden> {
        self.gated.hidden(caller)
    }

    /// Finds a function by its WIT name.
    pub(crate) fn find(&self, interface: &str, function: &str) -> Option<&Arc<ImportedFunction>> {
        self.functions.iter().find(|import| {
            let id = import.id();
            id.interface() == interface && id.function() == function
        })
    }

    /// Finds a function that is visible to some callers only, by its JavaScript name.
    pub(crate) fn find_gated(&self, interface: &str, name: &str) -> Option<&Arc<ImportedFunction>> {
        self.gated.find(interface, name)
    }
}
