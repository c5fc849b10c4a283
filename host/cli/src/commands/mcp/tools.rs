//! `agent-spaces mcp tools`

use super::{Options, server};
use crate::commands::failure::Failure;
use crate::commands::{output, terminal};
use agent_spaces_mcp::Listing;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};

/// Connect to a server and list its tools, prompts and resources.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces mcp tools slack
  agent-spaces mcp tools slack --json > capabilities/mcp-slack.json")]
pub(super) struct Tools {
    /// The server
    server: String,

    #[command(flatten)]
    options: Options,
}

impl Tools {
    pub(super) fn execute(self) -> u8 {
        match self.list() {
            Ok(listing) if self.options.json => output::print_line(&data(&listing)),
            Ok(listing) => output::print(&describe(&listing)),
            Err(failure) => failure.report(self.options.json),
        }
    }

    fn list(&self) -> Result<Listing, Failure> {
        let (_, project, session) = self.options.open()?;
        session.discover(server(&project, &self.server)?)
    }
}

/// Returns JSON with the members of a `tools/list` result, so that the output can be used as a definition.
fn data(listing: &Listing) -> Value {
    let identity = &listing.identity;
    json!({
        "tools": listing.tools, "prompts": listing.prompts, "resources": listing.resources,
        "resourceTemplates": listing.resource_templates, "instructions": identity.instructions,
        "serverInfo": { "name": identity.name, "version": identity.version, "title": identity.title },
        "protocolVersion": identity.protocol,
    })
}

fn describe(listing: &Listing) -> Shown {
    let identity = &listing.identity;
    let name = identity.name.as_deref().unwrap_or("unnamed server");
    let version = identity.version.as_deref().unwrap_or_default();
    let mut text = shown!("{} {}, MCP {}\n", clean(name), clean(version), clean(&identity.protocol));
    if let Some(instructions) = &identity.instructions {
        text.push(shown!("\n{}\n", terminal::clean(instructions)));
    }
    section(&mut text, "tools", &listing.tools, "name");
    section(&mut text, "prompts", &listing.prompts, "name");
    section(&mut text, "resources", &listing.resources, "uri");
    section(&mut text, "resource templates", &listing.resource_templates, "uriTemplate");
    text
}

fn section(text: &mut Shown, title: &'static str, items: &[Value], name: &str) {
    if items.is_empty() {
        return;
    }
    text.push(shown!("\n{}:\n", title));
    for item in items {
        let member = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        let summary = member("description").lines().next().unwrap_or_default();
        text.push(shown!("  {}", clean(member(name))));
        let summary = clean(summary);
        text.push(if summary.is_empty() { "\n".into() } else { shown!("  {}\n", summary) });
    }
}

fn clean(text: &str) -> Shown {
    terminal::clean_line(text)
}
