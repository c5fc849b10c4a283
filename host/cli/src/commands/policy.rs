//! `agent-spaces policy`

use super::config_choice::ConfigChoice;
use super::failure::Failure;
use super::space_choice::no_configuration;
use super::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::project::Project;
use agent_spaces_policy::{Decision, Explanation};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Explain policy decisions.
#[derive(Args)]
pub(super) struct PolicyCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Explain(Explain),
}

/// Show the policy decision about a function, and the rule that decides.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces policy explain support github.createIssue
  agent-spaces policy explain support github.createIssue --args '{\"repo\": \"acme/site\"}'
  agent-spaces policy explain - fs.writeFile      # global capabilities, without a space

Exit status: 0 it is allowed, 4 it is denied or asks for approval, 2 bad usage or configuration.")]
struct Explain {
    /// The space; - for the global capabilities
    space: String,

    /// The function as scripts call it, or in full: capabilities:crm/crm#create-ticket
    #[arg(value_name = "CAPABILITY.FUNCTION")]
    function: String,

    /// The call's parameters as JSON, to check them too
    #[arg(long, value_name = "JSON")]
    args: Option<String>,

    #[command(flatten)]
    config: ConfigChoice,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl PolicyCommand {
    pub(super) fn execute(self) -> u8 {
        let Verb::Explain(explain) = self.verb;
        match explain.answer() {
            Ok((value, _, status)) if explain.json => output::print_line(&value).max(status),
            Ok((_, text, status)) => output::print(&text).max(status),
            Err(failure) => failure.report(explain.json),
        }
    }
}

impl Explain {
    fn answer(&self) -> Result<(Value, Shown, u8), Failure> {
        let params = self.params()?;
        let engine = folders::engine(true)?;
        let space = Some(self.space.as_str()).filter(|space| *space != "-");
        let project = match self.config.open(&engine)? {
            Some(project) => project,
            None if space.is_some() => return Err(no_configuration(&self.space)),
            None => Project::without_config(std::path::Path::new("."), Vec::new(), &folders::surroundings())?,
        };
        let modules = project.space(space)?;
        // A function without a provider can still be explained.
        let assembled = modules.assemble(&engine)?;
        let function = modules.identify("CAPABILITY.FUNCTION", &self.function)?;
        let explained = assembled.explain(&function, params);
        let explanation = explained.map_err(|error| Failure::new(error.code, error.message, None))?;
        let status = if explanation.outcome == Decision::Allow { 0 } else { 4 };
        let value = json!({ "space": space, "function": self.function, "explanation": explanation });
        Ok((value, shown!("{}\n", described(explanation)), status))
    }

    fn params(&self) -> Result<Option<Value>, Failure> {
        let Some(text) = &self.args else { return Ok(None) };
        let hint = Some("give a JSON object, such as '{\"name\": \"value\"}'");
        let parsed = serde_json::from_str(text);
        parsed.map(Some).map_err(|error| Failure::new(Code::ConfigUsage, format!("--args is not JSON: {error}"), hint))
    }
}

/// Returns the explanation as text. Scopes come from definitions, so they are sanitized and kept on one line.
fn described(mut explanation: Explanation) -> Shown {
    let checks = explanation.checks.iter_mut();
    let words = checks.flat_map(|check| [&mut check.text, &mut check.place].into_iter().chain(&mut check.why));
    for text in words.chain(&mut explanation.made).chain([&mut explanation.function]) {
        *text = terminal::clean_line(text).into();
    }
    terminal::clean(&explanation.to_string())
}
