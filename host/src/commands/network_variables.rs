//! Variables of proxies and certificates that are set here and that servers do not get, in words.

use agent_spaces::config::{McpServer, Transport};
use agent_spaces_mcp::process::{network_variables, withheld_variables};
use std::collections::BTreeSet;

/// Most servers that are named.
const MAX_NAMED: usize = 8;

/// What is not passed on, and to whom.
pub(super) struct Withheld {
    pub(super) variables: Vec<String>,
    pub(super) servers: Vec<String>,
}

impl Withheld {
    /// What these servers do not get of what is set here; nothing where that is nothing.
    pub(super) fn of<'a>(servers: impl Iterator<Item = (&'a str, &'a McpServer)>) -> Option<Withheld> {
        let here = network_variables();
        let (mut variables, mut without) = (BTreeSet::new(), Vec::new());
        for (name, server) in servers {
            let Transport::Stdio { env, .. } = &server.transport else { continue };
            let withheld = withheld_variables(&here, env.keys().map(String::as_str));
            if !withheld.is_empty() {
                variables.extend(withheld.into_iter().map(str::to_owned));
                without.push(name.to_owned());
            }
        }
        let variables: Vec<String> = here.iter().filter(|name| variables.contains(*name)).cloned().collect();
        (!without.is_empty()).then_some(Withheld { variables, servers: without })
    }

    pub(super) fn sentence(&self) -> String {
        let named = self.servers.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match self.servers.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (verb, them) = if self.variables.len() == 1 { ("is", "it") } else { ("are", "them") };
        let variables = self.variables.join(", ");
        format!("{variables} {verb} set here, and these servers start without {them}: {named}{more}")
    }

    pub(super) fn fix(&self) -> String {
        let each = self.variables.iter().map(|name| format!("\"{name}\": \"${{{name}}}\""));
        format!("give them to a server that needs them: \"env\": {{ {} }}", each.collect::<Vec<_>>().join(", "))
    }
}
