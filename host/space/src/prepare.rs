//! Preparation of scripts: resolution of imports, then a sandbox linked for exactly those interfaces.

use crate::space::{NO_FILES, Space};
use agent_spaces_linker::import_set::ImportSet;
use agent_spaces_linker::program_parts::program_parts;
use agent_spaces_linker::resolve::{Denials, FileRead, Known, Offer, Reading, resolve};
use agent_spaces_policy::{FunctionId, FunctionPolicy, LabelledFunction};
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_sandbox::program::Program;
use agent_spaces_types::script_error::{ImportFault, ScriptError};
use std::collections::BTreeSet;

impl Space {
    /// Prepares a script: parses it with all files it imports, and links a sandbox for exactly the imported interfaces.
    /// Takes some tens of milliseconds for a new import set: async callers may want a blocking thread for it.
    ///
    /// A program that was prepared before is returned as it is, unless its files have changed. So those who ask for the
    /// same text share its compiled script.
    pub fn prepare(&self, name: &str, source: &str) -> Result<Program, PrepareError> {
        // Handlers are prepared once, and files of their packages are not compared.
        if self.packages.is_some() {
            return Ok(self.prepare_anew(name, source)?.0);
        }
        if let Some(program) = self.programs.get(name, source, self.workspace.as_ref()) {
            return Ok(program);
        }
        let (program, reads) = self.prepare_anew(name, source)?;
        Ok(self.programs.keep(name, source, program, reads))
    }

    /// Prepares a script, and returns the files that were looked for.
    fn prepare_anew(&self, name: &str, source: &str) -> Result<(Program, Vec<FileRead>), PrepareError> {
        let offers = |module: &str, reading: Reading| self.offer(module, None, reading);
        let policies = |id: &FunctionId, label: &str| self.rules.of(id, label, None);
        let notices = self.rules.notices();
        let known = Known {
            modules: &self.modules,
            withheld: &self.withheld,
            denials: Denials::by(&policies, &notices, &offers),
            has_fetch: self.has_fetch,
            packages: self.packages.as_ref(),
            max_bytes: self.rules.limits.source,
            memory: Some(self.engine.memory()),
        };
        let mut resolved = resolve(name, source, known, self.workspace.as_ref()).map_err(|mut error| {
            self.finish_error(&mut error);
            error
        })?;
        resolved.warnings.iter_mut().for_each(|warning| self.finish_error(warning));
        for forgotten in &mut resolved.imports.forgotten {
            forgotten.offer = self.offer(&forgotten.module, Some(&forgotten.name), Reading::Whole);
        }
        // Files of npm packages are not scanned for the functions they call.
        let set = match self.packages {
            Some(_) => ImportSet::whole(resolved.interfaces.clone()),
            None => ImportSet::of(&resolved, &self.interfaces),
        };
        let sandbox = self.sandbox_of(&set)?;
        let reads = std::mem::take(&mut resolved.reads);
        Ok((Program::new(program_parts(resolved, name), sandbox), reads))
    }

    /// Returns the scopes for which a module, or one of its exports, is offered. One without functions is for everybody.
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
            // Scopes of a definition need its specification, which is not read for interfaces with many functions.
            let is_read =
                reading == Reading::Whole && asked.is_empty() && self.interfaces.large(id.interface()).is_none();
            match is_read.then(|| self.host_function(&id)) {
                Some(Ok(function)) => scopes(function.pipeline.policy()),
                _ => Some(asked),
            }
        }))
    }

    /// Completes an error of a script: reports an unavailable module, and redacts secrets.
    fn finish_error(&self, error: &mut ScriptError) {
        self.report_unavailable(error);
        for text in std::iter::once(&mut error.message).chain(&mut error.hint) {
            *text = self.rules.redactor.text(text).into_owned();
        }
    }

    /// Replaces the text of a refused import whose module is granted but unavailable.
    fn report_unavailable(&self, error: &mut ScriptError) {
        if self.lacks_files && error.import_fault == Some(ImportFault::NodeFs) {
            error.hint = Some(NO_FILES.to_owned());
        }
        if let Some(missing) = error.specifier.as_ref().and_then(|specifier| self.missing.get(specifier)) {
            error.message.clone_from(&missing.message);
            error.import_fault = missing.is_switched_off.then_some(ImportFault::SwitchedOff);
        }
    }
}
