//! `agent-spaces agent`
//!
//! - `settings`: models and agents, from the configuration or an `.ai-agent.json`
//! - `host`: the service that answers; `spaces`: spaces whose functions are tools
//! - `question`: the question, and the schema of its answer
//! - `printer`: events; `outcome`: exit status, JSON and summary
//! - `interactive`: questions from a terminal; `line_editor`: the prompt and its history
//! - `interrupts`: SIGINT and SIGTERM; `terminal_mode`: the terminal mode that they restore
//! - `sessions`: list of sessions; `replay`: a session once more, from its records

mod host;
mod interactive;
mod interrupts;
mod line_editor;
mod outcome;
mod printer;
mod question;
mod replay;
mod sessions;
pub(super) mod settings;
mod spaces;
mod terminal_mode;

use super::approvals::ApprovalOptions;
use super::confinement::ConfineChoice;
use super::failure::Failure;
use super::space_choice::SpaceChoice;
use super::{output, terminal};
use agent_spaces::Code;
use agent_spaces::agent::{Outcome, OutputFormat, Sampling, SessionChoice, ToolMode};
use agent_spaces::config::ModelChoice;
use agent_spaces::confinement::HostNeeds;
use capability_gen::shown;
use clap::{Args, ValueEnum};
use host::Host;
use printer::Printer;
use settings::Settings;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Ask an agent: a model whose tools are the functions of a space.
///
/// The answer is streamed to stdout. Calls, retries and approvals are on stderr. Without a question, on a terminal,
/// questions are asked one after the other in one session.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces agent \"Which of my open issues are the oldest?\"
  agent-spaces agent planner \"Plan the next sprint\"
  agent-spaces agent --model ollama/qwen3 \"What is a component?\"
  git diff | agent-spaces agent reviewer -
  agent-spaces agent --schema answer.schema.json --json \"Sum up README.md\"
  agent-spaces agent --sessions
  agent-spaces agent --resume last \"And the second one?\"
  agent-spaces agent --replay last

Models and agents are in `models` and `agents` of the configuration, or in an .ai-agent.json.
Exit status: 0 ok, 1 refused, not what its schema allows or not as recorded, 2 bad usage or configuration, 3 a limit was reached
(turns, time, context window, budget, length), 4 a file is not accepted, 5 models or the host failed, 130 cancelled.")]
pub(super) struct AgentCommand {
    /// Name of the agent, if there are several, then the question; - reads the question from stdin
    #[arg(value_name = "[NAME] QUESTION", num_args = 0..=2)]
    words: Vec<String>,

    /// Model to ask instead of the agent's, as provider/model; may be repeated: the next is asked if one fails
    #[arg(long, value_name = "PROVIDER/MODEL", value_parser = model)]
    model: Vec<ModelChoice>,

    /// Tools of the model, made of the functions of the space [default: `tools` of the agent, else auto]
    #[arg(long, value_enum, value_name = "HOW")]
    tools: Option<ToolsChoice>,

    /// Form of the answer [default: `output` of the agent, else text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "schema")]
    format: Option<FormatChoice>,

    /// File with the JSON Schema of the answer, which is then JSON
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// Sampling temperature, instead of the agent's; that of a model in the configuration stays
    #[arg(long, value_name = "NUMBER", value_parser = temperature)]
    temperature: Option<f64>,

    /// Print one JSON object with text, value, ending, usage and session, and nothing else
    #[arg(long)]
    json: bool,

    /// Print the answer when it is whole: text of a model that fails midway is not printed
    #[arg(long)]
    no_stream: bool,

    /// Session to go on with, or `last`; without a question, an interrupted one goes on
    #[arg(long, value_name = "ID")]
    resume: Option<String>,

    /// Session, or `last`, to answer again with its recorded answers and results: no model is asked, no tool is called
    #[arg(long, value_name = "ID", conflicts_with_all = ["words", "resume", "no_session", "sessions"])]
    replay: Option<String>,

    /// Keep no session
    #[arg(long, conflicts_with = "resume")]
    no_session: bool,

    /// List sessions, newest first
    #[arg(long, conflicts_with_all = ["words", "resume", "no_session"])]
    sessions: bool,

    #[command(flatten)]
    choice: SpaceChoice,

    #[command(flatten)]
    approvals: ApprovalOptions,

    /// Scope granted to the agent, for functions that require one; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    /// Print requests to models and their answers to stderr, without keys
    #[arg(long)]
    trace_llm: bool,

    /// Print the messages exchanged with MCP servers to stderr
    #[arg(long)]
    trace_mcp: bool,

    #[command(flatten)]
    confine: ConfineChoice,
}

#[derive(Clone, Copy, ValueEnum)]
enum ToolsChoice {
    /// Search, describe, run a program
    Code,
    /// One tool a function
    Direct,
    /// Direct for few functions, code for many
    Auto,
    /// None
    Off,
}

impl ToolsChoice {
    fn mode(self) -> ToolMode {
        match self {
            ToolsChoice::Code => ToolMode::Code,
            ToolsChoice::Direct => ToolMode::Direct,
            ToolsChoice::Auto => ToolMode::Auto,
            ToolsChoice::Off => ToolMode::Off,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatChoice {
    /// As the model likes
    Text,
    /// Markdown
    Markdown,
}

fn model(text: &str) -> Result<ModelChoice, String> {
    ModelChoice::parse(text).ok_or_else(|| "expected provider/model, such as anthropic/claude-sonnet-5".to_owned())
}

fn temperature(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 2".to_owned())
}

impl AgentCommand {
    pub(super) fn execute(self) -> u8 {
        if self.sessions {
            return output::answer(sessions::list(), self.json);
        }
        match self.run() {
            Ok(status) => status,
            Err(failure) => failure.report(self.json),
        }
    }

    fn run(&self) -> Result<u8, Failure> {
        let models = self.confine.may_enter(&self.choice).then(|| Settings::ai_agent_file(&self.choice)).flatten();
        let needs = HostNeeds { read: self.schema.clone().into_iter().chain(models).collect(), ..HostNeeds::default() };
        self.confine.enter(&self.choice, Some(Path::new(".")), needs)?;
        let settings = Settings::load_asking(&self.choice)?;
        let session = self.resume.as_deref().or(self.replay.as_deref()).map(sessions::find).transpose()?;
        let (name, text) = self.name_and_text(&settings)?;
        let name = match (name, &session) {
            (Some(name), _) => name,
            (None, Some(session)) => session.agent.clone(),
            (None, None) => settings.agents.only()?.to_owned(),
        };
        let mut agent = settings.agents.definition(&name, &self.model)?;
        if let Some(tools) = self.tools {
            agent.tools = tools.mode();
        }
        let output = self.output()?;
        let text = text.map(|text| question::read(&text)).transpose()?;
        let session = match session {
            Some(session) => SessionChoice::Resume(session.id),
            None if self.no_session => SessionChoice::None,
            None => SessionChoice::New,
        };
        let is_new = matches!(session, SessionChoice::New | SessionChoice::None);
        if text.is_none() && is_new && !is_interactive(self.json) {
            let hint = "write the question as an argument, or - to read it from stdin";
            return Err(Failure::new(Code::ConfigUsage, "there is no question", Some(hint)));
        }
        let form = output.clone().unwrap_or_else(|| agent.output.clone());
        let host = Host::open(self, settings, agent)?;
        if let (Some(_), SessionChoice::Resume(id)) = (&self.replay, &session) {
            let replayed = host.replay(id);
            host.close();
            return Ok(replay::show(&replayed?, self.json));
        }
        let asking = Asking { command: self, host: &host, name, output, form };
        let status = match text {
            None if self.resume.is_none() => asking.interactive(session),
            text => asking.once(session, text).map(|(status, _)| status),
        };
        host.close();
        status
    }

    /// Splits the words into the agent's name and the question. One word that is the name of an agent is its name, if
    /// questions are asked one after the other.
    fn name_and_text(&self, settings: &Settings) -> Result<(Option<String>, Option<String>), Failure> {
        Ok(match self.words.as_slice() {
            [] => (None, None),
            [only] if settings.agents.agents.contains_key(only) => match is_interactive(self.json)
                || self.resume.is_some()
            {
                true => (Some(only.clone()), None),
                false => {
                    let message = format!("`{only}` is an agent, and there is no question for it");
                    return Err(Failure::new(Code::ConfigUsage, message, Some("write the question after the name")));
                }
            },
            [only] => (None, Some(only.clone())),
            [name, text, ..] => (Some(name.clone()), Some(text.clone())),
        })
    }

    /// Form of the answer, if a flag says.
    fn output(&self) -> Result<Option<OutputFormat>, Failure> {
        Ok(match (&self.schema, self.format) {
            (Some(file), _) => Some(OutputFormat::Json(question::schema(file)?)),
            (None, Some(FormatChoice::Markdown)) => Some(OutputFormat::Markdown),
            (None, Some(FormatChoice::Text)) => Some(OutputFormat::Text),
            (None, None) => None,
        })
    }
}

/// Returns true if a person can be asked for questions.
fn is_interactive(json: bool) -> bool {
    !json && std::io::stdin().is_terminal() && terminal::is_stderr_terminal()
}

/// Questions of one command.
struct Asking<'a> {
    command: &'a AgentCommand,
    host: &'a Host,
    /// Name of the agent.
    name: String,
    /// Form of the answers, if a flag says.
    output: Option<OutputFormat>,
    /// Form of the answers.
    form: OutputFormat,
}

impl Asking<'_> {
    /// Asks one question, or goes on with one, and prints the answer. Returns the exit status and the session.
    fn once(&self, session: SessionChoice, text: Option<String>) -> Result<(u8, Option<String>), Failure> {
        let is_streamed = !self.command.json && !self.command.no_stream && !matches!(self.form, OutputFormat::Json(_));
        let printer = Printer::start(is_streamed);
        let mut question = self.host.question(&self.name, session, text);
        question.output.clone_from(&self.output);
        question.sampling = Sampling { temperature: self.command.temperature, ..Sampling::default() };
        question.watcher = printer.watcher();
        let outcome = self.host.ask(question);
        let mut printed = printer.finish();
        printed.end_line();
        let outcome = outcome?;
        let status = self.show(&outcome, printed.has_text);
        Ok((status, (!outcome.session.is_empty()).then_some(outcome.session)))
    }

    fn show(&self, outcome: &Outcome, is_printed: bool) -> u8 {
        let status = match self.command.json {
            true => match (output::print_line(&outcome::to_json(outcome)), outcome::exit_status(outcome.ending)) {
                (written, 0) => written,
                (_, status) => status,
            },
            false => outcome::show(outcome, &self.form, is_printed),
        };
        if status == 130 && !outcome.session.is_empty() {
            let session = terminal::clean_line(&outcome.session);
            terminal::note(shown!("go on with: agent-spaces agent --resume {}", session));
        }
        status
    }
}
