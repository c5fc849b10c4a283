//! The [`Space`] type: its state and accessors, and reports about its functions.

use crate::host_function::HostFunction;
use crate::manifest::{Manifest, ManifestInterface, manifest, reach};
use crate::program_cache::ProgramCache;
use crate::sandbox_cache::SandboxCache;
use agent_spaces_calls::approval::Pending;
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::npm::Packages;
use agent_spaces_linker::resolve::Withheld;
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_pipeline::{Approvals, Grants, KnownFunction, Rules};
use agent_spaces_policy::{Decision, FunctionId};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::Modules;
use agent_spaces_sandbox::program::Program;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::limits::Limits;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Hint of a space that has no files.
pub const NO_FILES: &str =
    "Node.js modules are not available here, and this space has no workspace: use a capability that has files";

/// Granted module that is unavailable.
pub(crate) struct MissingModule {
    /// Error message for scripts that import it.
    pub(crate) message: String,
    /// True if it belongs to an MCP server that is switched off.
    pub(crate) is_switched_off: bool,
}

/// Interfaces with their handlers, policy and limits, for which scripts are prepared and run.
///
/// ```
/// # async fn example(engine: agent_spaces_sandbox::engine::Engine) -> Result<(), Box<dyn std::error::Error>> {
/// # mod agent_spaces {
/// #     pub use agent_spaces_calls::handlers::Handlers;
/// #     pub use agent_spaces_linker::interfaces::Interfaces;
/// #     pub use agent_spaces_sandbox::run::RunOptions;
/// #     pub use agent_spaces_space::space::Space;
/// # }
/// use agent_spaces::{Handlers, Interfaces, RunOptions, Space};
///
/// let mut interfaces = Interfaces::new()?;
/// interfaces.add("clock.wit", "
///     package capabilities:station@1.0.0;
///     interface station { next-train: async func() -> result<u32, string>; }
/// ")?;
/// let mut handlers = Handlers::new();
/// handlers.add("capabilities:station/station@1.0.0", "next-train", |_call| async { Ok(7.into()) });
///
/// let space = Space::builder(&engine).interfaces(interfaces, handlers).build()?;
/// let program = space.prepare("agent.ts", "
///     import { station } from '@capabilities/station';
///     const minutes: number = await station.nextTrain();
///     minutes * 60
/// ")?;
/// let report = program.run(RunOptions::default()).await;
/// assert_eq!(report.outcome?, 420);
/// # Ok(())
/// # }
/// ```
pub struct Space {
    pub(crate) engine: Engine,
    pub(crate) interfaces: Arc<Interfaces>,
    pub(crate) handlers: Handlers,
    pub(crate) modules: Modules,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) packages: Option<Packages>,
    pub(crate) withheld: Withheld,
    /// Granted modules that are unavailable, by specifier.
    pub(crate) missing: HashMap<String, MissingModule>,
    /// True if `fs` of the standard library has no files.
    pub(crate) lacks_files: bool,
    pub(crate) has_fetch: bool,
    pub(crate) rules: Rules,
    pub(crate) sandboxes: SandboxCache,
    pub(crate) programs: ProgramCache,
    /// Functions that the host has called itself; bounded by the functions of the space.
    pub(crate) functions: Mutex<HashMap<FunctionId, HostFunction>>,
}

impl Space {
    /// Returns its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the granted interfaces; a revocation takes effect at once.
    pub fn grants(&self) -> &Grants {
        &self.rules.grants
    }

    /// Returns the approvals: functions approved in advance, and the channel that asks a person.
    pub fn approvals(&self) -> &Approvals {
        &self.rules.approvals
    }

    /// Returns the redactor, which removes secrets from all output of the space.
    pub fn redactor(&self) -> &Redactor {
        &self.rules.redactor
    }

    /// Returns the names of the modules that scripts can import.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.names()
    }

    /// Returns the limits of runs that set none of their own.
    pub fn limits(&self) -> &Limits {
        &self.rules.limits
    }

    /// Creates the set of pending approval requests of a new run.
    pub fn pending(&self) -> Pending {
        self.rules.runs().pending()
    }

    /// Returns how often [`Space::prepare`] returned a program that was prepared before.
    pub fn reused_programs(&self) -> u64 {
        self.programs.reused()
    }

    /// Returns the manifest of a program: the functions it can call.
    pub fn manifest(&self, program: &Program) -> Manifest {
        manifest(program, &self.handlers, &self.rules)
    }

    /// Returns all functions that scripts of this space can call.
    pub fn reach(&self) -> Result<Vec<ManifestInterface>, HostError> {
        let all = self.interfaces.names().map(str::to_owned).collect();
        let selection = self.interfaces.select(&all)?;
        Ok(reach(&selection.interfaces, &self.handlers, &self.rules, |_, _| Vec::new()))
    }

    /// Returns true if a caller may call a function at all.
    pub fn is_open(&self, function: &KnownFunction<'_>, caller: &Caller) -> bool {
        self.rules.is_open(function, caller)
    }

    /// Returns the decision of the policy about calls of a function, before their arguments are known.
    pub fn decision(&self, function: &KnownFunction<'_>) -> Decision {
        self.rules.decision(function)
    }

    /// Returns the operator's explanation if the policy denies a function to all callers.
    pub fn denial(&self, function: &KnownFunction<'_>) -> Option<String> {
        self.rules.denial(function)
    }
}
