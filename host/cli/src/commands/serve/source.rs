//! Spaces of the project for the REST API.

use crate::commands::folders;
use crate::commands::serving::source::Source;
use agent_spaces::project::{Equipment, Narrowing, NarrowingError, Project, ProjectError, SpaceModules, SpaceReach};
use agent_spaces::rest::INPUT_MODULE;
use agent_spaces::rest::source::{AssembleError, Assembled, Functions, SpaceOutline, SpaceSource};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::{Caller, Engine, Files, Limits, ModuleSource, OPERATOR_TARGET};
use agent_spaces_approvals::Channel;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Longest time limit that a run may ask for if the configuration sets none.
const LONGEST_TIME: Duration = Duration::from_secs(600);

/// Spaces of the project.
pub(super) struct ProjectSpaces {
    source: Arc<Source>,
    /// Asks people about calls, through the journal.
    channel: Arc<dyn Channel>,
}

impl ProjectSpaces {
    pub(super) fn new(source: Arc<Source>, channel: Arc<dyn Channel>) -> ProjectSpaces {
        ProjectSpaces { source, channel }
    }

    /// Makes a space of its modules.
    fn build(&self, modules: &SpaceModules<'_>, longest: Option<Duration>) -> Result<Assembled, ProjectError> {
        let session = self.source.session();
        let equipment = Equipment { channel: Some(self.channel.clone()), ..session.equipment().clone() };
        let limits = modules.limits();
        let builder = modules.builder(self.source.engine(), &equipment)?;
        let space =
            builder.module(INPUT_MODULE, ModuleSource::Json("null".to_owned())).limits(limits.clone()).build()?;
        let policy = modules.policy();
        let files = match modules.workspace() {
            Some(folder) => {
                let opened = Files::open(folder, *policy.files(), equipment.workspace_counts.clone());
                Some(opened.map_err(|error| ProjectError::file(folder, error))?)
            }
            None => None,
        };
        let mut without = Vec::new();
        if files.is_none() {
            without.push("fs");
        }
        if !policy.network().enabled {
            without.push("http");
        }
        let definitions = self.source.accepted(modules);
        Ok(Assembled {
            space,
            longest: longest_time(&limits, longest),
            reach: SpaceReach::of(modules, limits.clone()),
            limits,
            capabilities: modules.entry_names(),
            files,
            functions: Functions::new(definitions, folders::outlines(), without),
        })
    }

    fn assemble_in(
        &self,
        project: &Project,
        base: Option<&str>,
        part: Option<&Narrowing>,
    ) -> Result<Assembled, AssembleError> {
        self.build(&modules_of(project, base, part)?, project.time_limit(base)).map_err(failed)
    }
}

/// Returns the modules of a configured space, or of a part of one.
fn modules_of<'a>(
    project: &'a Project,
    base: Option<&str>,
    part: Option<&Narrowing>,
) -> Result<SpaceModules<'a>, AssembleError> {
    match part {
        Some(part) => project.narrowed(base, part).map_err(refused),
        None => project.space(base).map_err(|_| AssembleError::Unknown),
    }
}

/// Returns the longest time limit that a run may ask for.
fn longest_time(limits: &Limits, configured: Option<Duration>) -> Duration {
    configured.unwrap_or(LONGEST_TIME).max(limits.time)
}

/// Describes the space of these modules.
fn outline(modules: &SpaceModules<'_>, longest: Option<Duration>) -> Result<SpaceOutline, ProjectError> {
    let interfaces = modules.interfaces()?.modules();
    let names: BTreeSet<String> = interfaces.names().chain([INPUT_MODULE]).map(str::to_owned).collect();
    let limits = modules.limits();
    Ok(SpaceOutline {
        longest: longest_time(&limits, longest),
        limits,
        capabilities: modules.entry_names(),
        modules: names.into_iter().collect(),
        has_files: modules.workspace().is_some(),
    })
}

/// Error of a folder of definitions without a configuration: it is one space, and has no parts.
fn no_parts() -> AssembleError {
    AssembleError::Denied {
        pointer: "/base".to_owned(),
        detail: "spaces can be made only in a project with a configuration: run `agent-spaces init`".to_owned(),
    }
}

impl SpaceSource for ProjectSpaces {
    fn bases(&self, caller: &Caller) -> Vec<Option<String>> {
        let served = self.source.space().map(str::to_owned);
        let loaded = self.source.loaded();
        let Some(project) = loaded.project() else { return vec![served] };
        let config = project.config();
        match caller.name.as_ref().map(|name| config.serve.callers.get(name)) {
            Some(Some(own)) if !own.spaces.is_empty() => own.spaces.iter().cloned().map(Some).collect(),
            Some(Some(_)) => vec![served],
            // A caller that the configuration no longer has.
            Some(None) => Vec::new(),
            // The operator: the served space first, then all others.
            None => {
                let others = config.spaces.keys().cloned().map(Some).chain([None]);
                std::iter::once(served.clone()).chain(others.filter(|other| *other != served)).collect()
            }
        }
    }

    fn assemble(&self, base: Option<&str>, part: Option<&Narrowing>) -> Result<Assembled, AssembleError> {
        let loaded = self.source.loaded();
        match loaded.project() {
            Some(project) => self.assemble_in(project, base, part),
            None if part.is_some() || base.is_some() => Err(no_parts()),
            None => {
                let modules =
                    self.source.modules(&loaded).map_err(|error| AssembleError::Host(error.message().to_owned()))?;
                self.build(&modules, None).map_err(failed)
            }
        }
    }

    fn outline(&self, base: Option<&str>, part: Option<&Narrowing>) -> Result<SpaceOutline, AssembleError> {
        let loaded = self.source.loaded();
        match loaded.project() {
            Some(project) => outline(&modules_of(project, base, part)?, project.time_limit(base)).map_err(failed),
            None if part.is_some() || base.is_some() => Err(no_parts()),
            None => {
                let modules =
                    self.source.modules(&loaded).map_err(|error| AssembleError::Host(error.message().to_owned()))?;
                outline(&modules, None).map_err(failed)
            }
        }
    }

    fn forget(&self, base: Option<&str>, part: &Narrowing) {
        let loaded = self.source.loaded();
        let session = self.source.session();
        // A part that can no longer be made has no counts that anything reads.
        if let Some(modules) = loaded.project().and_then(|project| project.narrowed(base, part).ok()) {
            modules.forget(session.equipment());
        }
        if let Ok(runtime) = Handle::try_current() {
            runtime.block_on(session.clients().close_space(&part.id));
        }
        if let Err(error) = session.clients().remove_folders(&part.id) {
            let space = &part.id;
            tracing::warn!(target: OPERATOR_TARGET, "folders of MCP servers of the space {space} stay: {error}");
        }
    }

    fn version(&self) -> u64 {
        self.source.version()
    }

    fn engine(&self) -> Option<Engine> {
        Some(self.source.engine().clone())
    }

    fn checker(&self) -> Option<TypeChecker> {
        Some(self.source.checker().clone())
    }
}

fn failed(error: ProjectError) -> AssembleError {
    AssembleError::Host(error.to_string())
}

fn refused(error: NarrowingError) -> AssembleError {
    match error {
        NarrowingError::Denied { .. } => {
            AssembleError::Denied { pointer: "/capabilities".to_owned(), detail: error.to_string() }
        }
        NarrowingError::Loosens { pointer, message } => AssembleError::Denied { pointer, detail: message },
        NarrowingError::Invalid { pointer, message } => AssembleError::Invalid { pointer, detail: message },
        NarrowingError::Base(error) => failed(error),
    }
}
