//! Configuration of a [`Space`]: workspace, packages, policy, logs and observers, and extra modules.

use crate::space::{MissingModule, Space};
use agent_spaces_linker::npm::Packages;
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_pipeline::audit_trail::AuditHandle;
use agent_spaces_pipeline::{History, ResultObserver};
use agent_spaces_policy::{DayCounts, Policy, RateFile};
use agent_spaces_sandbox::modules::ModuleSource;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::event::Event;
use agent_spaces_types::shown::Shown;
use std::sync::Arc;

impl Space {
    /// Lets scripts import the files of this folder.
    #[must_use]
    pub fn with_workspace(mut self, workspace: Workspace) -> Space {
        self.workspace = Some(workspace);
        self
    }

    /// Lets programs import these npm packages. They are third-party code: meant for handlers, not for agents' scripts.
    #[must_use]
    pub fn with_packages(mut self, packages: Packages) -> Space {
        self.packages = Some(packages);
        self
    }

    /// Sets the policy for calls. `operator` receives the parts of refusals that only the operator may see. While a rule
    /// is ambiguous, no script is linked and no call is made: see [`Space::check_rules`].
    #[must_use]
    pub fn with_policy(mut self, policy: Arc<Policy>, operator: impl Fn(&Shown) + Send + Sync + 'static) -> Space {
        self.rules.policy = policy;
        self.with_operator(operator)
    }

    /// Sets the policy as [`Space::with_policy`] does, with the counts, limits and cache of an earlier instance of the
    /// space.
    pub fn with_history(mut self, history: History, operator: impl Fn(&Shown) + Send + Sync + 'static) -> Space {
        self.rules.resume_from(history);
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

    /// Limits the source of a script, with the files that it imports, in bytes.
    #[must_use]
    pub fn with_source_limit(mut self, bytes: u64) -> Space {
        self.max_source = bytes;
        self
    }

    /// Enables the global `fetch`, backed by `http` of the standard library, in scripts that use the name.
    #[must_use]
    pub fn with_fetch(mut self) -> Space {
        self.has_fetch = true;
        self
    }

    /// Sets the store of calls per day, for rules that limit them.
    #[must_use]
    pub fn with_day_counts(mut self, days: Arc<dyn DayCounts>) -> Space {
        self.rules.days = days;
        self
    }

    /// Sets the file by which processes share rate limits. Without it, each process has its own.
    #[must_use]
    pub fn with_rate_file(mut self, rates: RateFile) -> Space {
        self.rules.rates = Some(Arc::new(rates));
        self
    }

    /// Sets the redactor, which removes secrets from everything logged, shown or returned: answers of providers, console
    /// output, events, errors and results. Providers receive arguments unredacted.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Space {
        self.rules.redactor = redactor;
        self
    }

    /// Records every call in the usage log.
    #[must_use]
    pub fn with_accounting(mut self, accounting: Accounting) -> Space {
        self.rules.accounting = accounting;
        self
    }

    /// Passes every event of every run, and of the host's own calls, to an observer.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Space {
        self.rules.observer = Some(Arc::new(observer));
        self
    }

    /// Passes every result without a declared type, redacted, to an observer.
    #[must_use]
    pub fn with_result_observer(mut self, observer: Arc<ResultObserver>) -> Space {
        self.rules.results = Some(observer);
        self
    }

    /// Writes every event of every run, and of the host's own calls, to an audit log. Where the log is required, calls are
    /// refused while it cannot be written.
    #[must_use]
    pub fn with_audit(mut self, audit: AuditHandle) -> Space {
        self.rules.recorder = Some(Arc::new(audit));
        self
    }

    /// Sets the name that approval requests show.
    #[must_use]
    pub fn named(mut self, name: &str) -> Space {
        self.rules.space = Some(name.into());
        self
    }

    /// Declares that `fs` of the standard library has no files, so that no hint suggests it.
    pub fn without_files(mut self) -> Space {
        self.lacks_files = true;
        self
    }

    /// Adds a module that scripts can import.
    pub fn add_module(&mut self, name: &str, source: ModuleSource) {
        self.modules.insert(name.to_owned(), source);
    }

    /// Registers a module that exists but is not granted. A script that imports it is refused with `grant`, the setting
    /// that would grant it, for the operator.
    pub fn withhold(&mut self, specifier: &str, grant: impl Into<String>) {
        self.withheld.insert(specifier.to_owned(), grant.into());
    }

    /// Registers a module that is granted but unavailable: `why` is shown to scripts, `fix` to the operator.
    pub fn miss(&mut self, specifier: &str, why: &str, fix: impl Into<String>) {
        let message = format!("Cannot import '{specifier}': {why}");
        self.missing.insert(specifier.to_owned(), MissingModule { message, is_switched_off: false });
        self.withhold(specifier, fix);
    }

    /// As [`Space::miss`], for a module of an MCP server that is switched off: no running server can provide it.
    pub fn miss_switched_off(&mut self, specifier: &str, why: &str, fix: impl Into<String>) {
        self.miss(specifier, why, fix);
        if let Some(missing) = self.missing.get_mut(specifier) {
            missing.is_switched_off = true;
        }
    }
}
