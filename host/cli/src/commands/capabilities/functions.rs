//! `agent-spaces capabilities functions`

use super::Sources;
use crate::commands::failure::Failure;
use crate::commands::{folders, output, terminal};
use agent_spaces::Caller;
use agent_spaces::Code;
use agent_spaces::project::FunctionSpecification;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};

/// List the specifications of functions: all that are defined here, or those visible to callers of a space.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces capabilities functions
  agent-spaces capabilities functions --space support --scope tickets:write
  agent-spaces capabilities functions --json | jq '.[] | select(.tags | index(\"weather\"))'

Exit status: 0 ok, 2 bad usage or configuration.")]
pub(super) struct Functions {
    #[command(flatten)]
    sources: Sources,

    /// Only functions visible to callers of this space: those that its policy does not deny
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    space: Option<String>,

    /// Scope granted to the caller; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", requires = "space")]
    scopes: Vec<String>,

    /// Print the list as one JSON array
    #[arg(long)]
    json: bool,
}

impl Functions {
    pub(super) fn execute(self) -> u8 {
        match self.list() {
            Ok(found) if self.json => output::print_line(&Value::Array(found.iter().map(|one| json!(one)).collect())),
            Ok(found) => output::print(&describe(&found)),
            Err(failure) => failure.report(self.json),
        }
    }

    fn list(&self) -> Result<Vec<FunctionSpecification>, Failure> {
        let engine = folders::engine(true)?;
        let Some(name) = &self.space else {
            let (_, definitions) = self.sources.load(&engine)?;
            let mut all = Vec::new();
            for definition in &definitions {
                all.extend(definition.specifications()?);
            }
            return Ok(all);
        };
        let project = self.sources.config.open(&engine)?.ok_or_else(|| {
            let hint = "add agent-spaces.config.json, or leave --space out";
            Failure::new(Code::ConfigFile, "no configuration was found, so there are no spaces", Some(hint))
        })?;
        let modules = project.space(Some(name))?;
        let caller = Caller { scopes: self.scopes.iter().cloned().collect(), ..Caller::default() };
        Ok(modules.advertised(&modules.assemble(&engine)?, &caller)?)
    }
}

/// Writes function, provider, owner and tags.
fn describe(found: &[FunctionSpecification]) -> Shown {
    let mut text = Shown::default();
    for one in found {
        let answered = one.implementation.map_or_else(|| "no provider".to_owned(), |kind| kind.to_string());
        text.push(shown!("{}  {}", terminal::clean_line(&one.function), terminal::clean_line(&answered)));
        if let Some(owner) = &one.owner {
            text.push(shown!("  owner {}", terminal::clean_line(owner)));
        }
        if !one.tags.is_empty() {
            text.push(shown!("  {}", terminal::clean_line(&one.tags.join(", "))));
        }
        text.push(shown!("  [{}]\n", terminal::clean_line(&one.module)));
    }
    text
}
