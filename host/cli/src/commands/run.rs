//! `agent-spaces run`

use super::approvals::ApprovalOptions;
use super::confinement::ConfineChoice;
use super::durable_run::DurableSession;
use super::failure::{Failure, with_setting};
use super::interrupt::Interrupt;
use super::run_command::RunCommand;
use super::run_output::{EndedRun, RunOutput};
use super::script_file::{self, ScriptFile};
use super::session::Session;
use super::space_choice::{Found, SpaceChoice};
use super::{folders, terminal, trust, units};
use agent_spaces::HostError;
use agent_spaces::confinement::HostNeeds;
use agent_spaces::durable::runs::new_run_id;
use agent_spaces::project::{Project, SpaceModules};
use agent_spaces::script::ScriptError;
use agent_spaces::{Caller, Engine, Event, Limits, PrepareError, Program, RunOptions, RunReport};
use capability_gen::shown;
use clap::Args;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Run a TypeScript or JavaScript file in a sandbox.
///
/// The script's value is its default export, what a top-level `return` gives, or its last expression;
/// it is printed to stdout as JSON. Console output goes to stderr. An MCP server that is imported for the
/// first time is asked for its tools, which are written to capabilities.lock.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces run examples/quickstart/agent.ts
  echo '1 + 1' | agent-spaces run -
  agent-spaces run report.ts --timeout 5s --memory 32MiB --json
  agent-spaces run triage.ts --space support
  agent-spaces run tidy.ts --workspace ./inbox --approvals store
  agent-spaces run triage.ts --confine
  agent-spaces run payout.ts --durable --approvals store

Exit status: 0 ok, 1 the script failed, 2 bad usage or configuration, 3 a limit was reached,
4 denied, 5 a provider or the host failed, 6 a durable run waits (see `agent-spaces runs`),
130 ended by SIGINT, 143 by SIGTERM. With --json the object is printed after a signal too; a second
signal exits at once.")]
pub(super) struct Run {
    /// The script; - reads it from stdin
    file: PathBuf,

    /// Fuel limit: some units for each step of the script and each turn of a loop in the engine
    #[arg(long, value_parser = units::fuel, value_name = "AMOUNT")]
    fuel: Option<u64>,

    /// Memory limit
    #[arg(long, value_parser = units::bytes, value_name = "SIZE")]
    memory: Option<u64>,

    /// Time limit, waiting included
    #[arg(long, value_parser = units::duration, value_name = "DURATION")]
    timeout: Option<Duration>,

    /// Print one JSON object with value or error, console and usage as the last line
    #[arg(long)]
    json: bool,

    /// Print each event of the run as a line of JSON; the last line is that of --json
    #[arg(long)]
    events: bool,

    /// Folder that the script's `fs` can access, and whose files it may import if it lies there; not a home or root
    /// folder [default: the space's]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    #[command(flatten)]
    choice: SpaceChoice,

    /// Approve all calls of a function in advance, such as crm.createTicket; may be repeated
    #[arg(long, value_name = "FUNCTION")]
    approve: Vec<String>,

    #[command(flatten)]
    approvals: ApprovalOptions,

    /// Scope granted to the caller, for functions that require one; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    /// Record the run in the journal, so that it survives this process and can be resumed: see `agent-spaces runs`
    /// [default: `durable` of the configuration]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    durable: Option<bool>,

    /// Print the messages exchanged with MCP servers to stderr
    #[arg(long)]
    trace_mcp: bool,

    /// Do not use the cache of compiled code
    #[arg(long)]
    no_cache: bool,

    #[command(flatten)]
    confine: ConfineChoice,
}

/// Servers and user that were asked before the run; each is asked once.
#[derive(Default)]
struct Asked {
    servers: HashSet<String>,
    user: bool,
}

impl Asked {
    fn user(&mut self, project: &Project) -> Result<bool, Failure> {
        Ok(!std::mem::replace(&mut self.user, true) && trust::ask(project)?)
    }
}

impl Run {
    pub(super) fn execute(mut self) -> u8 {
        // The deciding program reads the events.
        self.events |= self.approvals.is_piped();
        self.output().print(|interrupt| self.run(interrupt))
    }

    fn output(&self) -> RunOutput {
        // At a terminal, the prompt names the call.
        let is_asked_elsewhere = self.durable == Some(true) && !terminal::is_stderr_terminal();
        let is_stored = self.approvals.is_stored() || is_asked_elsewhere;
        RunOutput { json: self.json, events: self.events, is_stored }
    }

    fn run(&self, interrupt: Option<&Interrupt>) -> Result<EndedRun, Failure> {
        self.confine()?;
        let script = ScriptFile::read(&self.file, self.workspace.as_deref())?;
        let engine = folders::engine(!self.no_cache)?;
        let mut found = self.choice.find(&script, &engine)?;
        let mut session = match &found {
            Found::Project(project) => Session::new(project, self.trace_mcp)?,
            Found::Definitions(_) => Session::without_project()?,
        };
        if let Some(folder) = &self.workspace {
            session.work_in(self.choice.workspace(&found, folder)?);
        }
        let durable = self.durable_session(&found)?;
        let is_stdin_taken = self.file == Path::new("-");
        match &durable {
            Some(durable) => {
                session.share_counts(durable.store());
                self.approvals.prepare_durable(&mut session, is_stdin_taken, durable.store().clone())?;
            }
            None => self.approvals.prepare(&mut session, is_stdin_taken)?,
        }
        let mut asked = Asked::default();
        let mut ready_after = Duration::ZERO;
        let program = loop {
            let program = match self.prepare(&script, &engine, &found, &session, &mut ready_after)? {
                Ok(program) if !self.ask_for(&found, &program, &mut asked)? => break program,
                Ok(_) => None,
                Err(refused) => Some(refused),
            };
            // The next iteration knows the server's tools, or the files that the user accepted.
            if let Some(refused) = program
                && !self.discover_import(&found, &refused, &session, &mut asked)?
            {
                self.warn_of_project(&found);
                return Err(Failure::refused(refused, &script.name, &script.source));
            }
            found = self.choice.find(&script, &engine)?;
        };
        if let Some(note) = self.choice.raised_note(&found) {
            terminal::warn(&terminal::clean_line(&note));
        }
        self.warn_of_script(&program);
        let limits = self.limits(self.choice.limits(&found))?;
        let caller = Arc::new(Caller { scopes: self.scope.iter().cloned().collect(), ..Caller::default() });
        let options = RunOptions { limits: Some(limits), caller, spent: ready_after, ..RunOptions::default() };
        let (mut report, durable) = match &durable {
            None => (session.wait(self.follow(&program, options, interrupt)), None),
            Some(durable) => {
                let id = new_run_id();
                // The id is needed to continue the run after a crash.
                terminal::note(shown!("durable run {}", terminal::clean_line(&id)));
                let options = RunOptions { run_id: Some(id), ..options };
                let info = self.command(&script)?.info(&found);
                let start = |options| durable.runs().run(&program, options, info);
                let print = |event: &Event| self.output().print_event(event);
                let (report, outcome) = session.wait(durable.follow(start, options, print, interrupt))?;
                (report, Some(outcome))
            }
        };
        report.outcome = report.outcome.map_err(with_setting);
        let ended = EndedRun { report, program: Some(program), durable };
        if let Some(interrupt) = interrupt {
            interrupt.ended(ended.json());
        }
        Ok(ended)
    }

    /// Opens the journal if the run is durable.
    fn durable_session(&self, found: &Found) -> Result<Option<DurableSession>, Failure> {
        let settings = self.choice.durable(found);
        let is_durable = self.durable.unwrap_or(settings.is_default);
        is_durable.then(|| DurableSession::open(settings)).transpose()
    }

    /// Returns what `runs resume` needs to know of this command.
    fn command(&self, script: &ScriptFile) -> Result<RunCommand, Failure> {
        RunCommand::new(
            &self.choice,
            script.folder.as_deref(),
            self.workspace.as_deref(),
            &self.approve,
            &self.approvals,
        )
    }

    /// Confines this process if requested, to the script's folder, the workspace and the files of the project.
    fn confine(&self) -> Result<(), Failure> {
        let is_file = self.file != Path::new("-");
        let folder = is_file.then(|| script_file::folder(&self.file).to_owned());
        let beside = folder.clone().or_else(|| self.workspace.clone());
        let needs = HostNeeds {
            read: folder.into_iter().collect(),
            write: self.workspace.clone().into_iter().collect(),
            ..HostNeeds::default()
        };
        self.confine.enter(&self.choice, beside.as_deref(), needs)
    }

    fn prepare(
        &self,
        script: &ScriptFile,
        engine: &Engine,
        found: &Found,
        session: &Session,
        ready_after: &mut Duration,
    ) -> Result<Result<Program, PrepareError>, Failure> {
        let modules = self.choice.modules(found)?;
        let space = modules.builder(engine, session.equipment())?.limits(self.choice.limits(found));
        let space = script.with_workspace(space)?.build()?;
        for function in &self.approve {
            space.approvals().approve(modules.identify("--approve", function)?);
        }
        let begun = Instant::now();
        let program = space.prepare(&script.name, &script.source);
        *ready_after = begun.elapsed();
        if let Ok(program) = &program {
            for advice in modules.unanswered(program.interfaces()) {
                terminal::warn(&advice);
            }
        }
        Ok(program)
    }

    /// Lists the tools of the MCP server that a script imports, if it is not in the lock yet. Returns true if preparing
    /// the script should be tried again.
    fn discover_import(
        &self,
        found: &Found,
        refused: &PrepareError,
        session: &Session,
        asked: &mut Asked,
    ) -> Result<bool, Failure> {
        let (PrepareError::Script(error), Found::Project(project)) = (refused, found) else { return Ok(false) };
        let Some(specifier) = &error.specifier else { return Ok(false) };
        let modules = self.choice.modules(found)?;
        let Some(server) = modules.undiscovered.iter().find(|server| server.specifier() == *specifier) else {
            return Ok(false);
        };
        if server.obstacle().is_some() {
            return asked.user(project);
        }
        // A server without tools is asked only once.
        if !asked.servers.insert(server.name.clone()) {
            return Ok(false);
        }
        session.discover_and_lock(project, server)?;
        Ok(true)
    }

    /// Asks the user to accept files that the script needs. Returns true if one was accepted.
    fn ask_for(&self, found: &Found, program: &Program, asked: &mut Asked) -> Result<bool, Failure> {
        let Found::Project(project) = found else { return Ok(false) };
        let modules = self.choice.modules(found)?;
        // If the user cannot be asked, the call reports it.
        let is_inert =
            !modules.inert(program.interfaces()).is_empty() || !modules.inert_commands(program.interfaces()).is_empty();
        let waits = self.waits_for_config(project, program, &modules)?;
        if (is_inert || waits) && asked.user(project)? {
            return Ok(true);
        }
        if waits {
            let file = terminal::clean_line(&project.config().file);
            terminal::warn(&format!(
                "{file} is not accepted: it grants no files and no network, and passes nothing to providers; review \
                 it, then run `agent-spaces trust {file}`"
            ));
        }
        Ok(false)
    }

    /// Returns true if a script uses something that the configuration grants only once it is accepted.
    fn waits_for_config(
        &self,
        project: &Project,
        program: &Program,
        modules: &SpaceModules<'_>,
    ) -> Result<bool, Failure> {
        let uses_outside = program.uses_fetch() || ["fs", "http"].iter().any(|part| program.uses_standard(part));
        let is_shut = uses_outside && project.is_kept_shut(self.choice.space());
        Ok(is_shut || modules.is_kept_from(program.interfaces())?)
    }

    /// Prints the warnings of the script; with --json they are part of the object.
    fn warn_of_script(&self, program: &Program) {
        if self.json || self.events {
            return;
        }
        for ScriptError { message, file, position, hint, .. } in program.warnings() {
            let place = position.map(|it| format!(":{}:{}", it.line, it.column)).unwrap_or_default();
            let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
            terminal::warn(&format!("{file}{place}: {message}{hint}"));
        }
    }

    /// Prints the warnings of the project, which may explain a missing module.
    fn warn_of_project(&self, found: &Found) {
        if let Found::Project(project) = found {
            project.warnings().iter().for_each(terminal::warn);
        }
    }

    fn limits(&self, mut limits: Limits) -> Result<Limits, Failure> {
        limits.fuel = self.fuel.unwrap_or(limits.fuel);
        limits.memory = self.memory.unwrap_or(limits.memory);
        limits.time = self.timeout.unwrap_or(limits.time);
        limits.check().map_err(HostError::from)?;
        Ok(limits)
    }

    /// Runs the program and prints its events.
    async fn follow(&self, program: &Program, options: RunOptions, interrupt: Option<&Interrupt>) -> RunReport {
        let mut run = program.start(options);
        if let Some(interrupt) = interrupt {
            interrupt.running(run.cancellation_token());
        }
        while let Some(event) = run.next_event().await {
            self.output().print_event(&event);
        }
        run.finish().await
    }
}
