//! A space: interfaces, what answers them, and the folder whose files scripts may import.

use crate::accounting::Accounting;
use crate::audit_trail::AuditHandle;
use crate::binding;
use crate::binding::Inside;
use crate::binding::world::{Base, Names};
use crate::engine::Engine;
use crate::error::{HostError, PrepareError};
use crate::events::Event;
use crate::handlers::{ALL, CapabilityError, Handlers};
use crate::import_set::ImportSet;
use crate::interfaces::{Interfaces, Selection};
use crate::limits::Limits;
use crate::manifest::{Manifest, ManifestInterface, manifest, reach};
use crate::modules::{ModuleSource, Modules};
use crate::npm::Packages;
use crate::pipeline::{Approvals, Grants, History, KnownFunction, ResultObserver, Rules};
use crate::program::Program;
use crate::resolve::{Denials, Known, Offer, Reading, Withheld, resolve};
use crate::run::{Caller, RunOptions, RunReport};
use crate::sandbox::{Description, HostCall, Sandbox, Target};
use crate::sandbox_cache::SandboxCache;
use crate::script::ScriptError;
use crate::snapshot::Snapshot;
use crate::typed_call::TypedCall;
use crate::workspace::Workspace;
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_policy::{
    AmbiguousRule, DayCounts, Explanation, FunctionId, FunctionPolicy, LabelledFunction, Policy, RateFile, not_callable,
};
use capability_gen::names::nearest;
use capability_gen::shown::Shown;
use serde::de::DeserializeOwned;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// How a hint names the files of the standard library.
pub(crate) const STANDARD_FILES: &str = "`fs` of '@agent-spaces/std'";

/// The hint where there are none.
pub(crate) const NO_FILES: &str =
    "there is no Node here, and this space has no workspace: use a capability that has files";

/// Everything that scripts of one kind may reach.
///
/// ```
/// # async fn example(engine: agent_spaces::Engine) -> Result<(), Box<dyn std::error::Error>> {
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
    engine: Engine,
    interfaces: Interfaces,
    handlers: Handlers,
    modules: Modules,
    workspace: Option<Workspace>,
    packages: Option<Packages>,
    withheld: Withheld,
    /// Why modules that are given are not there all the same, for scripts to read, by name.
    missing: HashMap<String, String>,
    /// Whether `fs` of the standard library has no files.
    lacks_files: bool,
    has_fetch: bool,
    max_source: u64,
    rules: Rules,
    sandboxes: SandboxCache,
    /// Functions that the host called itself; there are no more than the space has.
    targets: Mutex<HashMap<FunctionId, Arc<Target>>>,
    /// A rule whose label stands for functions of two modules: nothing is linked before it says which it means.
    ambiguous: Option<AmbiguousRule>,
}

impl Space {
    /// A space whose interfaces are all answered.
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
            targets: Mutex::default(),
            ambiguous: None,
        })
    }

    /// Lets scripts import the files of this folder.
    #[must_use]
    pub fn with_workspace(mut self, workspace: Workspace) -> Space {
        self.workspace = Some(workspace);
        self
    }

    /// Lets programs import these npm packages. They are code of strangers: meant for handlers, not for agents' scripts.
    #[must_use]
    pub fn with_packages(mut self, packages: Packages) -> Space {
        self.packages = Some(packages);
        self
    }

    /// Lets this policy decide over calls. `operator` is told what only an operator may know of a refusal. Where a rule
    /// of it could be about functions of two modules, no script is linked and nothing is called: see
    /// [`Space::check_rules`].
    #[must_use]
    pub fn with_policy(mut self, policy: Arc<Policy>, operator: impl Fn(&Shown) + Send + Sync + 'static) -> Space {
        self.rules.policy = policy;
        self.with_operator(operator)
    }

    /// The same, going on from the calls that the space before it had.
    pub(crate) fn with_history(mut self, history: History, operator: impl Fn(&Shown) + Send + Sync + 'static) -> Space {
        self.rules.go_on_from(history);
        self.with_operator(operator)
    }

    fn with_operator(mut self, operator: impl Fn(&Shown) + Send + Sync + 'static) -> Space {
        self.rules.operator = Some(Arc::new(operator));
        let policy = &self.rules.policy;
        if policy.has_rules() {
            self.ambiguous = policy.check_labels(&self.interfaces.shared_labels()).err();
        }
        self
    }

    /// Lets a script have so many bytes, with the files that it imports.
    #[must_use]
    pub fn with_source_limit(mut self, bytes: u64) -> Space {
        self.max_source = bytes;
        self
    }

    /// Refuses a policy with a rule whose label stands for functions of two modules.
    pub fn check_rules(&self) -> Result<(), HostError> {
        self.ambiguous.as_ref().map_or(Ok(()), |rule| Err(HostError::AmbiguousRule(rule.clone())))
    }

    /// Gives scripts that use the name the global `fetch`, which is `http` of the standard library.
    #[must_use]
    pub fn with_fetch(mut self) -> Space {
        self.has_fetch = true;
        self
    }

    /// Counts calls of a day here, for rules that bound them.
    #[must_use]
    pub fn with_day_counts(mut self, days: Arc<dyn DayCounts>) -> Space {
        self.rules.days = days;
        self
    }

    /// Counts calls here too, for rules that say how fast they may follow one another: over all processes that share the
    /// file. Without it they are counted in this process.
    #[must_use]
    pub fn with_rate_file(mut self, rates: RateFile) -> Space {
        self.rules.rates = Some(Arc::new(rates));
        self
    }

    /// Takes these secrets out of everything that is written down, shown or returned: what providers answer, and what
    /// scripts print, send, throw and give. Providers are sent what scripts pass, as it is.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Space {
        self.rules.redactor = redactor;
        self
    }

    /// Writes every call down.
    #[must_use]
    pub fn with_accounting(mut self, accounting: Accounting) -> Space {
        self.rules.accounting = accounting;
        self
    }

    /// Tells every event of every run, and of the host's own calls, to an observer.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Space {
        self.rules.observer = Some(Arc::new(observer));
        self
    }

    /// Shows every result that has no type to an observer, without secrets.
    #[must_use]
    pub fn with_result_observer(mut self, observer: Arc<ResultObserver>) -> Space {
        self.rules.results = Some(observer);
        self
    }

    /// Writes every event of every run, and of the host's own calls, to an audit log. Where that is required, calls that
    /// it cannot hold are refused.
    #[must_use]
    pub fn with_audit(mut self, audit: AuditHandle) -> Space {
        self.rules.audit = Some(audit);
        self
    }

    /// Names the space for those who are asked about its calls.
    #[must_use]
    pub fn named(mut self, name: &str) -> Space {
        self.rules.space = Some(name.into());
        self
    }

    /// Lets scripts import a module of the host's own making.
    pub fn add_module(&mut self, name: &str, source: ModuleSource) {
        self.modules.insert(name.to_owned(), source);
    }

    /// Says of a module that exists and is not given what would give it. A script that imports it is refused with
    /// that for the operator to read.
    pub fn withhold(&mut self, specifier: &str, grant: impl Into<String>) {
        self.withheld.insert(specifier.to_owned(), grant.into());
    }

    /// Says of a module that is given and not there why that is, in words that scripts may read, and for the operator what
    /// to do about it.
    pub(crate) fn miss(&mut self, specifier: &str, why: &str, fix: impl Into<String>) {
        self.missing.insert(specifier.to_owned(), format!("Cannot import '{specifier}': {why}"));
        self.withhold(specifier, fix);
    }

    /// Says that `fs` of the standard library has no files, so that no hint leads there.
    pub(crate) fn without_files(mut self) -> Space {
        self.lacks_files = true;
        self
    }

    /// Says of an import that was refused that its module is missing, where it is not withheld.
    fn say_missing(&self, error: &mut ScriptError) {
        if self.lacks_files && error.hint.as_ref().is_some_and(|hint| hint.contains(STANDARD_FILES)) {
            error.hint = Some(NO_FILES.to_owned());
        }
        if let Some(why) = error.specifier.as_ref().and_then(|specifier| self.missing.get(specifier)) {
            error.message.clone_from(why);
        }
    }

    /// What the space gives its scripts; taking something back holds at once.
    pub fn grants(&self) -> &Grants {
        &self.rules.grants
    }

    /// Who decides about calls that ask for approval.
    pub fn approvals(&self) -> &Approvals {
        &self.rules.approvals
    }

    /// What takes secrets out of all that is shown of the space.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.rules.redactor
    }

    /// Names of the modules that scripts can import.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.names()
    }

    /// Makes a script ready to run: reads it and all that it imports, and links a sandbox for exactly the
    /// interfaces among that. Takes some tens of milliseconds for an import set that is new, so that an
    /// async caller may want a blocking thread for it.
    pub fn prepare(&self, name: &str, source: &str) -> Result<Program, PrepareError> {
        let offers = |module: &str, reading: Reading| self.offer(module, None, reading);
        let known = Known {
            modules: &self.modules,
            withheld: &self.withheld,
            denials: Denials::by(&self.rules, &offers),
            has_fetch: self.has_fetch,
            packages: self.packages.as_ref(),
            max_bytes: self.max_source,
            memory: Some(self.engine.memory()),
        };
        let mut resolved = resolve(name, source, known, self.workspace.as_ref()).map_err(|mut error| {
            self.say_missing(&mut error);
            // It quotes the script.
            for text in std::iter::once(&mut error.message).chain(&mut error.hint) {
                *text = self.rules.redactor.text(text).into_owned();
            }
            error
        })?;
        resolved.warnings.iter_mut().for_each(|warning| self.say_missing(warning));
        for forgotten in &mut resolved.imports.forgotten {
            forgotten.offer = self.offer(&forgotten.module, Some(&forgotten.name), Reading::Whole);
        }
        // The files of npm packages are not looked through for what they call.
        let set = match self.packages {
            Some(_) => ImportSet::whole(resolved.interfaces.clone()),
            None => ImportSet::of(&resolved, &self.interfaces),
        };
        Ok(Program::new(name, resolved, self.sandbox_of(&set)?))
    }

    /// Whom a module is there for, or one of its exports. One that has no functions is there for everybody.
    fn offer(&self, module: &str, export: Option<&str>, reading: Reading) -> Offer {
        let mut functions = self.interfaces.labelled_in(module, export).peekable();
        if functions.peek().is_none() {
            return Offer::Everybody;
        }
        let scopes = |policy: &FunctionPolicy| -> Option<BTreeSet<String>> {
            policy.check_decision().ok()?;
            Some(policy.scopes().map(str::to_owned).collect())
        };
        Offer::of(functions.filter_map(|LabelledFunction { id, label, .. }| {
            let asked = scopes(&self.rules.of(&id, &label, None))?;
            // What a definition asks for takes reading it, which is not done for interfaces with many functions.
            let is_read =
                reading == Reading::Whole && asked.is_empty() && self.interfaces.large(id.interface()).is_none();
            match is_read.then(|| self.target(&id)) {
                Some(Ok(target)) => scopes(target.pipeline().policy()),
                _ => Some(asked),
            }
        }))
    }

    /// The program in a sandbox that begins where a run of it has ended, its modules evaluated; nothing where that is not
    /// the same every time. Takes a thread until it is made, which must be one of a tokio runtime's for blocking.
    pub(crate) fn after(&self, program: &Program, limits: Limits) -> Result<Option<Program>, HostError> {
        let set = ImportSet::whole(program.interfaces().map(str::to_owned).collect());
        let (_, binding) = self.binding(&set, Inside::Nothing)?;
        let Some(snapshot) = Snapshot::of(program, &binding, limits)? else { return Ok(None) };
        Ok(Some(program.in_sandbox(self.link(&set, Inside::Snapshot(&snapshot))?)))
    }

    /// Runs a program to its end.
    pub async fn run(&self, program: &Program, options: RunOptions) -> RunReport {
        program.run(options).await
    }

    /// Makes a call of the host's own, through the same steps as a script's.
    pub async fn call<R: DeserializeOwned>(&self, call: TypedCall<R>) -> Result<R, CapabilityError> {
        let TypedCall { capability, function, params, .. } = call;
        let target = self.target(&self.find(capability, function)?)?;
        let value = target.call(HostCall { params, ..HostCall::default() }, self.engine.memory()).await?;
        serde_json::from_value(value).map_err(|error| {
            let message = format!("{capability}.{function}'s answer does not fit its type: {error}");
            CapabilityError::failed(message)
        })
    }

    /// As [`Space::call`], by names that are known only now: those that scripts use, or an interface in full.
    pub async fn call_value(
        &self,
        capability: &str,
        function: &str,
        params: serde_json::Value,
        caller: Caller,
    ) -> Result<serde_json::Value, CapabilityError> {
        self.call_function(&self.find(capability, function)?, params, caller).await
    }

    /// The same, by a function's identity.
    pub async fn call_function(
        &self,
        function: &FunctionId,
        params: serde_json::Value,
        caller: Caller,
    ) -> Result<serde_json::Value, CapabilityError> {
        self.call_host(function, HostCall { params, caller: Arc::new(caller), ..HostCall::default() }).await
    }

    /// The same, for who wants to hear of it and to have the whole of the answer.
    pub(crate) async fn call_host(
        &self,
        function: &FunctionId,
        call: HostCall,
    ) -> Result<serde_json::Value, CapabilityError> {
        self.target(function)?.call(call, self.engine.memory()).await
    }

    /// The function that scripts call so, `crm.createTicket`, or that is named in full,
    /// `capabilities:crm/crm@1.0.0#create-ticket`.
    pub fn identify(&self, name: &str) -> Result<FunctionId, CapabilityError> {
        let is_meant =
            |each: &LabelledFunction| each.label == name || each.id.to_string() == name || each.name_in_full() == name;
        one_of(name, self.interfaces.labelled().filter(is_meant).collect())
    }

    /// The function that scripts know under these names.
    fn find(&self, capability: &str, function: &str) -> Result<FunctionId, CapabilityError> {
        one_of(&format!("{capability}.{function}"), self.interfaces.with_export(capability, function))
    }

    /// What becomes of calls of a function, and why; with parameters, what becomes of that call.
    pub fn explain(
        &self,
        function: &FunctionId,
        params: Option<serde_json::Value>,
    ) -> Result<Explanation, CapabilityError> {
        Ok(self.target(function)?.pipeline().explain(params))
    }

    /// What a script of this space can reach.
    pub fn manifest(&self, program: &Program) -> Manifest {
        manifest(program, &self.handlers, &self.rules)
    }

    /// What scripts of this space can reach, all together.
    pub fn reach(&self) -> Result<Vec<ManifestInterface>, HostError> {
        let all = self.interfaces.names().map(str::to_owned).collect();
        let selection = self.interfaces.select(&all)?;
        Ok(reach(&selection.interfaces, &self.handlers, &self.rules, |_, _| Vec::new()))
    }

    /// Whether a caller's calls of a function may pass at all.
    pub(crate) fn is_open(&self, function: &KnownFunction<'_>, caller: &Caller) -> bool {
        self.rules.is_open(function, caller)
    }

    /// Why the policy denies a function to everybody, for the operator, where it does.
    pub(crate) fn denial(&self, function: &KnownFunction<'_>) -> Option<String> {
        self.rules.denial(function)
    }

    /// What answers a function.
    fn target(&self, function: &FunctionId) -> Result<Arc<Target>, CapabilityError> {
        let unavailable = |error: HostError| CapabilityError::new("call.unavailable", error.to_string());
        self.check_rules().map_err(unavailable)?;
        let targets = || self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(target) = targets().get(function) {
            return Ok(target.clone());
        }
        if !self.interfaces.functions().any(|each| each == (function.interface(), function.function())) {
            return Err(unknown(&function.to_string()));
        }
        let selection = self.interfaces.select(&BTreeSet::from([function.interface().to_owned()]));
        let selection = selection.map_err(unavailable)?;
        let described = selection.interfaces.first();
        let target = described.and_then(|it| it.target(function.function(), &self.handlers, &self.rules));
        let target = target.ok_or_else(|| unknown(&function.to_string()))?;
        // Others may have made it meanwhile: the first one stays, so that all have the same.
        Ok(targets().entry(function.clone()).or_insert_with(|| Arc::new(target)).clone())
    }

    /// The sandbox for these interfaces, linked at most once.
    pub fn sandbox(&self, interfaces: &BTreeSet<String>) -> Result<Sandbox, HostError> {
        self.sandbox_of(&ImportSet::whole(interfaces.clone()))
    }

    fn sandbox_of(&self, set: &ImportSet) -> Result<Sandbox, HostError> {
        self.sandboxes.get_or_link(&set.key(), || self.link(set, Inside::Nothing))
    }

    fn link(&self, set: &ImportSet, inside: Inside<'_>) -> Result<Sandbox, HostError> {
        self.check_rules()?;
        let (selection, wasm) = self.binding(set, inside)?;
        let component = self.engine.component(&wasm)?;
        let description = Description { interfaces: selection.interfaces };
        Sandbox::link(&self.engine, &component, description, &self.handlers, &self.rules)
    }

    /// The component for some of its interfaces.
    fn binding(&self, set: &ImportSet, inside: Inside<'_>) -> Result<(Selection, Vec<u8>), HostError> {
        let mut selection = self.interfaces.select(set.interfaces())?;
        for (interface, functions) in set.named() {
            selection.narrow(interface, functions);
        }
        let names = Names { imports: set.interfaces(), exports: &BTreeSet::new() };
        let wasm = binding::build(&selection, Base::Sandbox, &names, inside)?;
        Ok((selection, wasm))
    }
}

fn unknown(name: &str) -> CapabilityError {
    CapabilityError::new("call.denied", not_callable(name))
}

/// The one function that a name stands for.
fn one_of(name: &str, mut found: Vec<LabelledFunction>) -> Result<FunctionId, CapabilityError> {
    match found.as_slice() {
        [first, second, ..] => {
            let message = format!(
                "{name} could be {} of '{}' or {} of '{}': name the one that is meant in full",
                first.id, first.module, second.id, second.module
            );
            Err(CapabilityError::new("call.denied", message))
        }
        _ => found.pop().map(|function| function.id).ok_or_else(|| unknown(name)),
    }
}

/// Every function has a handler, and every handler a function.
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
