//! MCP servers that are granted to no space.

use crate::Project;
use crate::mcp::ConfiguredServer;
use std::fmt;
use std::sync::Arc;

/// Note for the operator about servers that are granted to no space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UngivenNote {
    /// The fault, with the names of the servers.
    pub message: String,
    /// The entries to add to the configuration.
    pub fix: String,
}

impl fmt::Display for UngivenNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.message, self.fix)
    }
}

impl Project {
    /// Servers without a module: not discovered yet, without usable tools, or switched off.
    pub(super) fn without_module(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        self.servers().values().filter(|server| {
            let entry = format!("mcp:{}", server.name);
            !self.definitions().iter().any(|definition| definition.is_named(&entry))
        })
    }

    /// Enabled servers that are granted to no space, each with the configuration line that would grant it.
    pub fn ungiven_servers(&self) -> Vec<(&Arc<ConfiguredServer>, String)> {
        let given: Vec<String> = self.config().entries().flat_map(|(entry, _)| self.names_of_entry(entry)).collect();
        let is_given = |entry: &String| {
            let mut named = self.definitions().iter().filter(|definition| definition.is_named(entry));
            given.contains(entry)
                || named.any(|definition| definition.is_for_all || given.iter().any(|given| definition.is_named(given)))
        };
        let entries = self.servers().values().filter(|server| server.config.enabled).map(|server| {
            let entry = format!("mcp:{}", server.name);
            (server, entry)
        });
        let ungiven = entries.filter(|(_, entry)| !is_given(entry));
        ungiven.map(|(server, entry)| (server, self.config().grant_line(None, &entry))).collect()
    }

    /// Returns a note about servers that are granted to no space, if there are any.
    pub fn ungiven_note(&self) -> Option<UngivenNote> {
        /// Most servers named in the note.
        const MAX_NAMED: usize = 8;
        let ungiven = self.ungiven_servers();
        let list = |written: fn(&str) -> String| -> String {
            ungiven.iter().take(MAX_NAMED).map(|(server, _)| written(&server.name)).collect::<Vec<_>>().join(", ")
        };
        let (names, entries) = (list(|name| format!("`{name}`")), list(|name| format!("\"mcp:{name}\"")));
        let (more, all) = match ungiven.len() {
            0 => return None,
            1 => (String::new(), ""),
            count if count > MAX_NAMED => {
                (format!(" and {} more", count - MAX_NAMED), ", or \"mcp:*\" for all servers,")
            }
            _ => (String::new(), ", or \"mcp:*\" for all servers,"),
        };
        let file = &self.config().file;
        Some(UngivenNote {
            message: format!("no space is granted {names}{more}"),
            fix: format!("add {entries}{all} to `capabilities.global` of {file}"),
        })
    }
}
