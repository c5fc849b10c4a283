//! `agent-spaces spaces`

use super::config_choice::ConfigChoice;
use super::failure::Failure;
use super::reach::SpaceReach;
use super::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::project::{DefinitionBody, DefinitionFile, Project};
use capability_gen::counted::counted;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Inspect the spaces of a project.
#[derive(Args)]
pub(super) struct Spaces {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the spaces of the configuration
    #[command(after_help = "Example:\n  agent-spaces spaces list")]
    List(Options),
    /// Show the modules, files, network and limits of a space
    #[command(after_help = "Example:\n  agent-spaces spaces show support")]
    Show {
        /// The space
        name: String,
        #[command(flatten)]
        options: Options,
    },
}

#[derive(Args)]
struct Options {
    #[command(flatten)]
    config: ConfigChoice,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Spaces {
    pub(super) fn execute(self) -> u8 {
        let (options, name) = match &self.verb {
            Verb::List(options) => (options, None),
            Verb::Show { name, options } => (options, Some(name)),
        };
        let described = options.open().and_then(|project| match name {
            None => list(&project),
            Some(name) => show(&project, name),
        });
        match described {
            Ok((value, _)) if options.json => output::print_line(&value),
            Ok((_, text)) => output::print(&text),
            Err(failure) => failure.report(options.json),
        }
    }
}

impl Options {
    fn open(&self) -> Result<Project, Failure> {
        let engine = folders::engine(true)?;
        self.config.open(&engine)?.ok_or_else(|| {
            let hint = "add agent-spaces.config.json, or name one with --config";
            Failure::new(Code::ConfigFile, "no configuration was found", Some(hint))
        })
    }
}

fn list(project: &Project) -> Result<(Value, Shown), Failure> {
    let mut text = Shown::default();
    let mut values = Vec::new();
    for (name, space) in &project.config().spaces {
        let modules = project.space(Some(name))?;
        let description = space.description.as_deref().unwrap_or_default();
        let count = counted(modules.given.len(), "module");
        let description_line = match description.is_empty() {
            true => Shown::default(),
            false => shown!("  {}", terminal::clean_line(description)),
        };
        text.push(shown!("{}  {}{}\n", terminal::clean_line(name), count, description_line));
        values.push(json!({ "name": name, "description": description, "modules": specifiers(&modules.given) }));
    }
    Ok((Value::Array(values), text))
}

fn show(project: &Project, name: &str) -> Result<(Value, Shown), Failure> {
    let modules = project.space(Some(name))?;
    let limits = project.limits(Some(name));
    let given = specifiers(&modules.given);
    let mut text = shown!("{}\n\ngranted:\n", terminal::clean_line(name));
    for definition in &modules.given {
        let answered = match definition.unanswered() {
            Some(_) => "  (no provider)",
            None => "",
        };
        text.push(shown!("  {}{}\n", terminal::clean_line(&specifier(definition)), answered));
    }
    let is_nothing = modules.withheld.is_empty() && modules.switched_off.is_empty();
    text.push(shown!("\nnot granted:{}\n", if is_nothing { " none" } else { "" }));
    for server in &modules.switched_off {
        let (module, switch) = (terminal::clean_line(&server.specifier()), terminal::clean_line(&server.switch()));
        text.push(shown!("  {}\n    disabled at {}\n", module, switch));
    }
    for (definition, line) in &modules.withheld {
        let module = terminal::clean_line(&specifier(definition));
        text.push(shown!("  {}\n    {}\n", module, terminal::clean_line(line)));
    }
    let reached = SpaceReach::of(&modules, limits);
    text.push(shown!("\n{}\n{}\n{}\n", reached.files(), reached.network(), reached.limits()));
    let off =
        modules.switched_off.iter().map(|server| (server.specifier(), format!("enable it at {}", server.switch())));
    let others = modules.withheld.iter().map(|(definition, line)| (specifier(definition), line.clone()));
    let withheld: Vec<Value> =
        off.chain(others).map(|(module, line)| json!({ "module": module, "grant": line })).collect();
    let value = json!({
        "name": name,
        "modules": given,
        "withheld": withheld,
        "files": reached.files_json(),
        "network": reached.network_json(),
        "limits": reached.limits_json(),
    });
    Ok((value, text))
}

fn specifiers(definitions: &[&DefinitionFile]) -> Vec<String> {
    definitions.iter().map(|definition| specifier(definition)).collect()
}

fn specifier(definition: &DefinitionFile) -> String {
    match &definition.body {
        DefinitionBody::Module(module) => module.outline.specifier.clone(),
        DefinitionBody::Wit(_) => definition.path.display().to_string(),
    }
}
