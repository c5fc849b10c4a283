//! The [`Space`] type: its state and accessors, and reports about its functions.

use crate::calls::HostFunction;
use crate::manifest::{Manifest, ManifestInterface, manifest, reach};
use crate::sandbox_cache::SandboxCache;
use agent_spaces_calls::handlers::{ALL, Handlers};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::npm::Packages;
use agent_spaces_linker::resolve::Withheld;
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_pipeline::{Approvals, Grants, KnownFunction, Rules};
use agent_spaces_policy::{AmbiguousRule, Explanation, FunctionId};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::Modules;
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::{RunOptions, RunReport};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::nearest::nearest;
use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

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
/// let space = Space::new(engine, interfaces, handlers)?;
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
    pub(crate) interfaces: Interfaces,
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
    pub(crate) max_source: u64,
    pub(crate) rules: Rules,
    pub(crate) sandboxes: SandboxCache,
    /// Functions that the host has called itself; bounded by the functions of the space.
    pub(crate) functions: Mutex<HashMap<FunctionId, HostFunction>>,
    /// Policy rule whose label matches functions of two modules; nothing is linked while there is one.
    pub(crate) ambiguous: Option<AmbiguousRule>,
}

impl Space {
    /// Creates a space. Every function of the interfaces must have a handler, and every handler a function.
    pub fn new(engine: Engine, interfaces: Interfaces, handlers: Handlers) -> Result<Space, HostError> {
        check_handlers(&interfaces, &handlers)?;
        let modules = interfaces.modules();
        let rules = Rules::new(Grants::new(interfaces.names()));
        Ok(Space {
            engine,
            interfaces,
            handlers,
            modules,
            workspace: None,
            packages: None,
            withheld: Withheld::new(),
            missing: HashMap::new(),
            lacks_files: false,
            has_fetch: false,
            max_source: Limits::default().source,
            rules,
            sandboxes: SandboxCache::new(),
            functions: Mutex::default(),
            ambiguous: None,
        })
    }

    /// Refuses a policy with an ambiguous rule: one whose label matches functions of two modules.
    pub fn check_rules(&self) -> Result<(), HostError> {
        self.ambiguous.as_ref().map_or(Ok(()), |rule| Err(HostError::AmbiguousRule(rule.to_string())))
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

    /// Runs a program to its end.
    pub async fn run(&self, program: &Program, options: RunOptions) -> RunReport {
        program.run(options).await
    }

    /// Explains the policy decision about a function; with parameters, about that call.
    pub fn explain(
        &self,
        function: &FunctionId,
        params: Option<serde_json::Value>,
    ) -> Result<Explanation, CapabilityError> {
        Ok(self.host_function(function)?.pipeline.explain(params))
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

    /// Returns the operator's explanation if the policy denies a function to all callers.
    pub fn denial(&self, function: &KnownFunction<'_>) -> Option<String> {
        self.rules.denial(function)
    }
}

/// Refuses handlers without a function, and functions without a handler.
fn check_handlers(interfaces: &Interfaces, handlers: &Handlers) -> Result<(), HostError> {
    let full_name = |(interface, function)| format!("{interface}.{function}");
    let all = interfaces.names().map(|interface| full_name((interface, ALL)));
    let known: BTreeSet<String> = interfaces.functions().map(full_name).chain(all).collect();
    for (interface, function) in handlers.keys() {
        let unknown = full_name((interface.as_str(), function.as_str()));
        if !known.contains(&unknown) {
            let near = nearest(&unknown, known.iter().map(String::as_str));
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(HostError::UnknownHandler(format!("no interface has the function {unknown}{near}")));
        }
    }
    let is_missing = |(interface, function): &(&str, &str)| handlers.get(interface, function).is_none();
    let missing: Vec<String> = interfaces.functions().filter(is_missing).map(full_name).collect();
    if missing.is_empty() { Ok(()) } else { Err(HostError::MissingHandlers(missing)) }
}
