//! `agent-spaces runs resume`

use super::resume_all;
use crate::commands::approvals::ApprovalOptions;
use crate::commands::confinement::ConfineChoice;
use crate::commands::durable_run::DurableSession;
use crate::commands::failure::{Failure, with_setting};
use crate::commands::interrupt::Interrupt;
use crate::commands::journal::{OpenJournal, waits};
use crate::commands::run_command::RunCommand;
use crate::commands::run_output::{EndedRun, RunOutput};
use crate::commands::session::Session;
use crate::commands::space_choice::Found;
use crate::commands::{folders, output, terminal};
use agent_spaces::confinement::HostNeeds;
use agent_spaces::durable::control::wake;
use agent_spaces::durable::details::{header, is_imported};
use agent_spaces::durable::header::Header;
use agent_spaces::durable::runs::RESUME;
use agent_spaces::journal::{IMPORTED, RunRow};
use agent_spaces::{Code, Engine, Event, RunOptions, Space};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Continue a run, in the project and with the options that it was started with
///
/// Answers that were recorded are not asked for again. A run that waits is continued once its wait is over. The policy and
/// the providers are those of the project as it is now; script, engine and limits are those of the start.
///
/// An imported run brings no rights: it is continued in the project of the current folder, functions that were approved in
/// advance are not, and its space and scopes must be named here.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces runs resume 7f3c
  agent-spaces runs resume --all            # everything that can go on now
  agent-spaces runs resume --all --watch    # and whatever can go on later

Exit status: that of `agent-spaces run`; with --all, the highest but 6.")]
pub(super) struct Resume {
    /// The run
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    run: Option<String>,

    /// Continue all runs that can go on: their host died, or their wait is over
    #[arg(long)]
    all: bool,

    /// With --all: keep running, and continue runs when their wait is over
    #[arg(long, requires = "all", conflicts_with = "run")]
    watch: bool,

    /// Imported run: its space in the project of the current folder
    #[arg(long, value_name = "SPACE", conflicts_with = "all")]
    space: Option<String>,

    /// Imported run: scope that it may have; may be repeated
    #[arg(long, value_name = "SCOPE", conflicts_with = "all")]
    scope: Vec<String>,

    #[command(flatten)]
    approvals: ApprovalOptions,

    /// Print one JSON object with value or error, console and usage as the last line of each run
    #[arg(long)]
    json: bool,

    /// Print each new event as a line of JSON; the last line is that of --json
    #[arg(long)]
    events: bool,

    #[command(flatten)]
    confine: ConfineChoice,
}

impl Resume {
    pub(super) fn execute(mut self) -> u8 {
        let Some(run) = self.run.take() else { return resume_all::execute(self.watch) };
        // The deciding program reads the events.
        self.events |= self.approvals.is_piped();
        let output = RunOutput { json: self.json, events: self.events, is_stored: !terminal::is_stderr_terminal() };
        match self.find(&run) {
            Ok(Target::Server { id, project }) => output::answer(Ok(woken(&id, &project)), self.json || self.events),
            Ok(Target::Command { id, command, is_imported }) => output.print_about(
                |interrupt| {
                    let resumed = self.resume(&id, *command, is_imported, output, interrupt);
                    resumed.map_err(|failure| naming(&id, failure))
                },
                || state(&id),
            ),
            Err(failure) => output.print_about(|_| Err(failure), || state(&run)),
        }
    }

    fn resume(
        &self,
        id: &str,
        command: RunCommand,
        is_imported: bool,
        output: RunOutput,
        interrupt: Option<&Interrupt>,
    ) -> Result<EndedRun, Failure> {
        command.enter(id)?;
        self.confine(&command)?;
        if is_imported {
            let folder = terminal::clean_line(&command.folder.to_string_lossy());
            terminal::note(shown!("imported: continued in {}, with nothing approved in advance", folder));
        }
        let engine = folders::engine(true)?;
        let found = command.choice.find_beside(command.script_folder.as_deref(), &engine)?;
        let mut session = match &found {
            Found::Project(project) => Session::new(project, false)?,
            Found::Definitions(_) => Session::without_project()?,
        };
        if let Some(folder) = &command.workspace {
            session.work_in(command.choice.workspace(&found, folder)?);
        }
        let durable = DurableSession::open(command.choice.durable(&found))?;
        session.share_counts(durable.store());
        let approvals = self.approvals.or_recorded(command.approvals.as_deref());
        approvals.prepare_durable(&mut session, false, durable.store().clone())?;
        let space = assemble(&command, &found, &engine, &session)?;
        terminal::note(shown!("durable run {}", terminal::clean_line(id)));
        let start = |options| durable.runs().resume(id, &space, options);
        let print = |event: &Event| output.print_event(event);
        let following = durable.follow(start, RunOptions::default(), print, interrupt);
        let (mut report, outcome) = session.wait(following)?;
        report.outcome = report.outcome.map_err(with_setting);
        let ended = EndedRun { report, program: None, durable: Some(outcome) };
        if let Some(interrupt) = interrupt {
            interrupt.ended(ended.json());
        }
        Ok(ended)
    }

    /// Finds a run and wakes it. The journal is closed again: confinement re-executes this program.
    fn find(&self, run: &str) -> Result<Target, Failure> {
        let journal = OpenJournal::open()?;
        let row = journal.find(run)?;
        let header = journal.wait(header(&*journal.store, &row.id))?;
        let is_imported = journal.wait(is_imported(&*journal.store, &row.id))?;
        let mut command = RunCommand::read(&header.command);
        if is_imported {
            self.check_rights(&row.id, &header)?;
            if let Some(command) = &mut command {
                command.adopt(self.space.as_deref())?;
            }
        } else if self.space.is_some() || !self.scope.is_empty() {
            let message = format!("{} was not imported: it has the space and the scopes of its start", row.id);
            return Err(Failure::new(Code::ConfigUsage, message, Some("leave out --space and --scope")));
        }
        let target = match command {
            Some(command) => Target::Command { id: row.id.clone(), command: Box::new(command), is_imported },
            None if waits_for_person(&row) => {
                Target::Server { id: row.id.clone(), project: PathBuf::from(&row.summary.project) }
            }
            None => {
                let message = format!(
                    "{} was not started with `agent-spaces run`: the program that started it continues it",
                    row.id
                );
                return Err(Failure::new(Code::ConfigUsage, message, None));
            }
        };
        journal.wait(wake(&*journal.store, &row))?;
        Ok(target)
    }

    /// Checks that the person who continues an imported run names its space and its scopes: its author chose them.
    fn check_rights(&self, id: &str, header: &Header) -> Result<(), Failure> {
        let missing: Vec<String> = header
            .caller
            .scopes
            .iter()
            .filter(|scope| !self.scope.contains(scope))
            .map(|scope| format!("--scope {scope}"))
            .chain(
                header
                    .space
                    .iter()
                    .filter(|space| self.space.as_ref() != Some(*space))
                    .map(|it| format!("--space {it}")),
            )
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("{id} was imported, and wants rights that you have not named: {}", missing.join(" "));
        let hint = format!("see `agent-spaces runs show {id}`; if you trust its author, add these options");
        Err(Failure::new(Code::ConfigUsage, message, Some(&hint)))
    }

    /// Confines this process as `run` does.
    fn confine(&self, command: &RunCommand) -> Result<(), Failure> {
        let beside = command.script_folder.clone().or_else(|| command.workspace.clone());
        let needs = HostNeeds {
            read: command.script_folder.clone().into_iter().collect(),
            write: command.workspace.clone().into_iter().collect(),
            ..HostNeeds::default()
        };
        self.confine.enter(&command.choice, beside.as_deref(), needs)
    }
}

/// Assembles the space of a run, with the functions that were approved in advance.
fn assemble(command: &RunCommand, found: &Found, engine: &Engine, session: &Session) -> Result<Space, Failure> {
    let modules = command.choice.modules(found)?;
    let space = modules.builder(engine, session.equipment())?.limits(command.choice.limits(found)).build()?;
    for function in &command.approve {
        space.approvals().approve(modules.identify("--approve", function)?);
    }
    Ok(space)
}

/// Run that can be continued.
enum Target {
    /// `agent-spaces run` started it.
    Command { id: String, command: Box<RunCommand>, is_imported: bool },
    /// A server of this project continues it.
    Server { id: String, project: PathBuf },
}

/// Returns true if a run waits for a person to continue it.
fn waits_for_person(row: &RunRow) -> bool {
    row.waits_for.iter().any(|key| key == IMPORTED || key == RESUME)
}

/// Returns the answer about a server's run.
fn woken(id: &str, project: &Path) -> (Value, Shown) {
    let project = project.to_string_lossy();
    let text = shown!("woken; `agent-spaces mcp serve` in {} continues it\n", terminal::clean_line(&project));
    (json!({ "ok": true, "runId": id, "status": "ready", "project": project }), text)
}

/// Returns the state of a run that was not continued, as members of its JSON object.
fn state(run: &str) -> Value {
    match OpenJournal::open().and_then(|journal| journal.find(run)) {
        Ok(row) => json!({
            "runId": row.id,
            "status": row.status.as_str(),
            "wake": waits(&row.id, &row.waits_for, row.wake_at).1,
        }),
        Err(_) => json!({}),
    }
}

/// Adds the run's id to the commands that a hint names.
fn naming(id: &str, mut failure: Failure) -> Failure {
    for verb in ["show", "cancel"] {
        let (bare, whole) = (format!("`agent-spaces runs {verb}`"), format!("`agent-spaces runs {verb} {id}`"));
        failure.error.hint = failure.error.hint.map(|hint| hint.replace(&bare, &whole));
    }
    failure
}
