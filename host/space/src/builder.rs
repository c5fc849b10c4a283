//! Builder of a [`Space`]: capabilities, policy and limits, files, logs and observers.

use crate::extension::Extension;
use crate::program_cache::ProgramCache;
use crate::sandbox_cache::SandboxCache;
use crate::space::{MissingModule, Space};
use agent_spaces_approvals::Channel;
use agent_spaces_calls::handlers::{ALL, Handlers};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::npm::Packages;
use agent_spaces_linker::resolve::Withheld;
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_pipeline::audit_trail::AuditHandle;
use agent_spaces_pipeline::{Grants, History, ResultObserver, Rules};
use agent_spaces_policy::{DayCounts, Policy, RateFile};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::ModuleSource;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::event::Event;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::shown::Shown;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

/// Adds interfaces and handlers when the space is built.
type Addition = Box<dyn FnOnce(&mut Interfaces, &mut Handlers) -> Result<(), HostError> + Send>;

/// Builder of a [`Space`]: see [`Space::builder`].
#[must_use = "a builder does nothing until `build`"]
pub struct SpaceBuilder {
    engine: Engine,
    written: Option<(Interfaces, Handlers)>,
    additions: Vec<Addition>,
    modules: Vec<(String, ModuleSource)>,
    workspace: Option<Workspace>,
    packages: Option<Packages>,
    withheld: Withheld,
    missing: HashMap<String, MissingModule>,
    lacks_files: bool,
    has_fetch: bool,
    rules: Rules,
    /// Error of a setting, for [`SpaceBuilder::build`].
    error: Option<HostError>,
}

impl Space {
    /// Returns a builder of a space, which has no capabilities, the default limits, and no policy rules. The engine is
    /// shared, not copied.
    pub fn builder(engine: &Engine) -> SpaceBuilder {
        SpaceBuilder::new(engine)
    }
}

impl SpaceBuilder {
    fn new(engine: &Engine) -> SpaceBuilder {
        SpaceBuilder {
            engine: engine.clone(),
            written: None,
            additions: Vec::new(),
            modules: Vec::new(),
            workspace: None,
            packages: None,
            withheld: Withheld::new(),
            missing: HashMap::new(),
            lacks_files: false,
            has_fetch: false,
            rules: Rules::new(Grants::default()),
            error: None,
        }
    }

    /// Adds a capability of the host's, or the standard library.
    pub fn capability(mut self, capability: impl Extension) -> SpaceBuilder {
        self.additions.push(Box::new(move |interfaces: &mut Interfaces, handlers: &mut Handlers| {
            capability.add_to(interfaces, handlers)
        }));
        self
    }

    /// Adds interfaces that were written as WIT, with their handlers. A space takes one such set.
    pub fn interfaces(mut self, interfaces: Interfaces, handlers: Handlers) -> SpaceBuilder {
        if self.written.replace((interfaces, handlers)).is_some() {
            let message = "`interfaces` was called twice: add all WIT to one `Interfaces`";
            self.error.get_or_insert(HostError::Duplicate(message.to_owned()));
        }
        self
    }

    /// Sets the policy for calls. By default every call is allowed, but for functions that require approval.
    pub fn policy(mut self, policy: impl Into<Arc<Policy>>) -> SpaceBuilder {
        self.rules.policy = policy.into();
        self
    }

    /// Sets the policy as [`SpaceBuilder::policy`] does, with the counts, limits and cache of an earlier instance of the
    /// space.
    pub fn history(mut self, history: History) -> SpaceBuilder {
        self.rules.resume_from(history);
        self
    }

    /// Sets the limits of runs that set none of their own, and the limit of a script's source.
    pub fn limits(mut self, limits: Limits) -> SpaceBuilder {
        self.rules.limits = limits;
        self
    }

    /// Sets the channel that asks a person to approve calls. Without one, calls that require approval are refused.
    pub fn approval_channel(self, channel: Arc<dyn Channel>) -> SpaceBuilder {
        self.rules.approvals.ask(channel);
        self
    }

    /// Sets the receiver of notices to the operator: the parts of refusals that scripts do not see.
    pub fn operator(mut self, operator: impl Fn(&Shown) + Send + Sync + 'static) -> SpaceBuilder {
        self.rules.operator = Some(Arc::new(operator));
        self
    }

    /// Lets scripts import the files of this folder.
    pub fn workspace(mut self, workspace: Workspace) -> SpaceBuilder {
        self.workspace = Some(workspace);
        self
    }

    /// Lets programs import these npm packages. They are third-party code: meant for handlers, not for agents' scripts.
    pub fn packages(mut self, packages: Packages) -> SpaceBuilder {
        self.packages = Some(packages);
        self
    }

    /// Adds a module that scripts can import.
    pub fn module(mut self, name: impl Into<String>, source: ModuleSource) -> SpaceBuilder {
        self.modules.push((name.into(), source));
        self
    }

    /// Enables the global `fetch`, backed by `http` of the standard library, in scripts that use the name.
    pub fn fetch(mut self) -> SpaceBuilder {
        self.has_fetch = true;
        self
    }

    /// Sets the store of calls per day, for rules that limit them.
    pub fn day_counts(mut self, days: Arc<dyn DayCounts>) -> SpaceBuilder {
        self.rules.days = days;
        self
    }

    /// Sets the file by which processes share rate limits. Without it, each process has its own.
    pub fn rate_file(mut self, rates: RateFile) -> SpaceBuilder {
        self.rules.rates = Some(Arc::new(rates));
        self
    }

    /// Sets the redactor, which removes secrets from everything logged, shown or returned: answers of providers, console
    /// output, events, errors and results. Providers receive arguments unredacted.
    pub fn redactor(mut self, redactor: Redactor) -> SpaceBuilder {
        self.rules.redactor = redactor;
        self
    }

    /// Records every call in the usage log.
    pub fn accounting(mut self, accounting: Accounting) -> SpaceBuilder {
        self.rules.accounting = accounting;
        self
    }

    /// Passes every event of every run, and of the host's own calls, to an observer.
    pub fn observer(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> SpaceBuilder {
        self.rules.observer = Some(Arc::new(observer));
        self
    }

    /// Passes every result without a declared type, redacted, to an observer.
    pub fn result_observer(mut self, observer: Arc<ResultObserver>) -> SpaceBuilder {
        self.rules.results = Some(observer);
        self
    }

    /// Writes every event of every run, and of the host's own calls, to an audit log. Where the log is required, calls are
    /// refused while it cannot be written.
    pub fn audit(mut self, audit: AuditHandle) -> SpaceBuilder {
        self.rules.recorder = Some(Arc::new(audit));
        self
    }

    /// Sets the name that approval requests show.
    pub fn name(mut self, name: &str) -> SpaceBuilder {
        self.rules.space = Some(name.into());
        self
    }

    /// Declares that `fs` of the standard library has no files, so that no hint suggests it.
    pub fn without_files(mut self) -> SpaceBuilder {
        self.lacks_files = true;
        self
    }

    /// Registers a module that exists but is not granted. A script that imports it is refused with `grant`, the setting
    /// that would grant it, for the operator.
    pub fn withheld(mut self, specifier: &str, grant: impl Into<String>) -> SpaceBuilder {
        self.withheld.insert(specifier.to_owned(), grant.into());
        self
    }

    /// Registers a module that is granted but unavailable: `why` is shown to scripts, `fix` to the operator.
    pub fn unavailable(self, specifier: &str, why: &str, fix: impl Into<String>) -> SpaceBuilder {
        self.missing(specifier, why, fix, false)
    }

    /// As [`SpaceBuilder::unavailable`], for a module of an MCP server that is switched off: no running server can
    /// provide it.
    pub fn switched_off(self, specifier: &str, why: &str, fix: impl Into<String>) -> SpaceBuilder {
        self.missing(specifier, why, fix, true)
    }

    fn missing(mut self, specifier: &str, why: &str, fix: impl Into<String>, is_switched_off: bool) -> SpaceBuilder {
        let message = format!("Cannot import '{specifier}': {why}");
        self.missing.insert(specifier.to_owned(), MissingModule { message, is_switched_off });
        self.withheld(specifier, fix)
    }

    /// Builds the space.
    ///
    /// # Errors
    ///
    /// If a capability cannot be added, a function of the interfaces has no handler, a handler no function, a policy rule
    /// is ambiguous (its label matches functions of two modules), or a limit is higher than the engine supports.
    pub fn build(self) -> Result<Space, HostError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (mut interfaces, mut handlers) = match self.written {
            Some(written) => written,
            None => (Interfaces::new()?, Handlers::new()),
        };
        for add in self.additions {
            add(&mut interfaces, &mut handlers)?;
        }
        check_handlers(&interfaces, &handlers)?;
        let mut rules = self.rules;
        check_rules(&rules.policy, &interfaces)?;
        rules.limits.check()?;
        rules.grants = Grants::new(interfaces.names());
        let mut modules = interfaces.modules();
        for (name, source) in self.modules {
            modules.insert(name, source);
        }
        Ok(Space {
            engine: self.engine,
            interfaces: Arc::new(interfaces),
            handlers,
            modules,
            workspace: self.workspace,
            packages: self.packages,
            withheld: self.withheld,
            missing: self.missing,
            lacks_files: self.lacks_files,
            has_fetch: self.has_fetch,
            rules,
            sandboxes: SandboxCache::new(),
            programs: ProgramCache::default(),
            functions: Mutex::default(),
        })
    }
}

/// Refuses a policy with an ambiguous rule: one whose label matches functions of two modules.
fn check_rules(policy: &Policy, interfaces: &Interfaces) -> Result<(), HostError> {
    if !policy.has_rules() {
        return Ok(());
    }
    policy.check_labels(&interfaces.shared_labels()).map_err(|rule| HostError::AmbiguousRule(rule.to_string()))
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
