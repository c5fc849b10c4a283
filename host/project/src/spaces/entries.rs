//! Entries of the configuration's capability lists, matched with definitions and servers.

use crate::Project;
use crate::definitions::{self, DefinitionBody, DefinitionFile};
use crate::error::ProjectError;
use agent_spaces_config::Entry;
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::standard::SPECIFIER;

impl Project {
    /// Spaces whose own lists name a definition.
    pub(super) fn spaces_with(&self, definition: &DefinitionFile) -> Vec<&str> {
        let is_named = |entry: &Entry| self.names_of_entry(entry).iter().any(|text| definition.is_named(text));
        let names = |entries: &[Entry]| entries.iter().any(is_named);
        let spaces = self.config().spaces.iter().filter(|(_, space)| names(&space.capabilities));
        spaces.map(|(name, _)| name.as_str()).collect()
    }

    /// Names that an entry grants. `mcp:*` grants all enabled servers.
    pub(super) fn names_of_entry(&self, entry: &Entry) -> Vec<String> {
        match entry {
            Entry::AllMcp => {
                let enabled = self.servers().values().filter(|server| server.config.enabled);
                enabled.map(|server| format!("mcp:{}", server.name)).collect()
            }
            entry => vec![entry.to_string()],
        }
    }

    /// Names that an entry grants. Refuses an entry that matches nothing, with a suggestion.
    pub(super) fn resolve_entry(&self, entry: &Entry, space: Option<&str>) -> Result<Vec<String>, ProjectError> {
        let text = entry.to_string();
        if text == SPECIFIER || self.definitions().iter().any(|definition| definition.is_named(&text)) {
            return Ok(vec![text]);
        }
        match entry {
            // A folder without definitions, which may have some later.
            Entry::Path { .. } => return Ok(Vec::new()),
            Entry::AllMcp => return Ok(self.names_of_entry(entry)),
            // A server without a module: not discovered yet, without usable tools, or switched off.
            Entry::Mcp(server) if self.servers().contains_key(server) => return Ok(vec![text]),
            _ => {}
        }
        let servers: Vec<String> = self.servers().keys().map(|server| format!("mcp:{server}")).collect();
        let known = self.definitions().iter().flat_map(DefinitionFile::names);
        let known = known.chain(servers.iter().map(String::as_str)).filter(|known| *known != text);
        let near = nearest(&text, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let own_scope = format!("@{}/", capability_gen::compile::NAMESPACE);
        let fix = match entry {
            // No npm package has our scope, so `npm install` could fetch a stranger's code.
            Entry::Module(name) if name.starts_with(&own_scope) => {
                match definitions::default_folder_file(self.folder(), name) {
                    Some((found, path)) if found == *name => format!("It is in `{path}`: write that path here instead"),
                    Some((found, path)) => {
                        format!("Did you mean `{found}`? It is in `{path}`: write that path here instead")
                    }
                    None => {
                        "Write the path of its file here instead, such as `./capabilities/orders.ts`, or add it to \
                         `capabilities.registry`"
                            .to_owned()
                    }
                }
            }
            Entry::Mcp(server) => format!("Add `{server}` to `mcpServers`, or remove the entry"),
            Entry::Module(name) => format!(
                "It is not in `capabilities.registry`, and there is no node_modules/{name}/package.json: name its file here, \
                 add it there, or run `npm install {name}`"
            ),
            Entry::Path { .. } | Entry::AllMcp => "Name its file here".to_owned(),
        };
        let list = match space {
            Some(space) => format!("{}.capabilities", self.config().place_of_space(space)),
            None => "$.capabilities.global".to_owned(),
        };
        let at = self.config().entries().find(|(other, at)| *other == entry && at.starts_with(&list));
        let list = at.map_or(list, |(_, at)| at);
        Err(ProjectError::Unknown {
            place: format!("{}: {list}", self.config().file),
            message: format!("there is no capability `{text}`{near}"),
            fix,
        })
    }

    /// Error for a space that is not configured, with a suggestion.
    pub(super) fn unknown_space(&self, name: &str) -> ProjectError {
        let known = || self.config().spaces.keys().map(String::as_str);
        let fix = match nearest(name, known()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None if self.config().spaces.is_empty() => "Add it to `spaces`".to_owned(),
            None => format!("There are {}", known().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no space `{name}`");
        ProjectError::Unknown { place: self.config().file.clone(), message, fix }
    }
}

impl DefinitionFile {
    /// All names that entries of a configuration may use for it.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let specifier = match &self.body {
            DefinitionBody::Module(module) => Some(module.outline.specifier.as_str()),
            DefinitionBody::Wit(_) => None,
        };
        self.entries.iter().map(String::as_str).chain(specifier)
    }

    /// Returns true if an entry names it.
    pub(super) fn is_named(&self, entry: &str) -> bool {
        let is_server = |server: &str| match &self.body {
            DefinitionBody::Module(module) => module.outline.is_server(server),
            DefinitionBody::Wit(_) => false,
        };
        self.names().any(|name| name == entry) || entry.strip_prefix("mcp:").is_some_and(is_server)
    }
}
