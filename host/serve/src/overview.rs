//! Overview of the functions of a client, for a host that shows it to a model of its own: modules, instructions of
//! servers, and result types that were inferred from earlier calls.

use crate::cards::{Card, cut};
use crate::exposure::{ExposedTool, Output};
use crate::served_space::{ServedSpace, ServerInstructions};
use agent_spaces_http_server::Client;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of functions that are named of a module, and maximum length of such a name.
const MAX_NAMED: usize = 6;
const MAX_NAME: usize = 60;

/// Maximum length of an inferred result type.
const MAX_RESULT: usize = 1_000;

/// Functions that a client can call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// Modules with functions that the client may call, the standard library last.
    pub modules: Vec<ModuleOverview>,
    /// Instructions of the servers whose functions these are.
    pub servers: Vec<ServerInstructions>,
    /// Tools by name, in proxy mode.
    pub tools: BTreeMap<String, ToolOverview>,
    /// True if some servers have not listed their tools yet.
    pub is_growing: bool,
}

/// Module with functions that a client may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleOverview {
    /// Module specifier: `@capabilities/mcp-slack`.
    pub module: String,
    /// Number of its functions.
    pub functions: usize,
    /// Some of them, as scripts name them: `slack.listChannels`.
    pub names: Vec<String>,
}

/// Function behind a tool of proxy mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOverview {
    /// Capability of its source: `slack`.
    pub capability: String,
    /// Result type as inferred from earlier calls, if the tool has no output schema.
    pub observed: Option<String>,
}

impl Overview {
    /// Returns the number of functions.
    pub fn functions(&self) -> usize {
        self.modules.iter().map(|module| module.functions).sum()
    }

    /// Everything that a client may import.
    pub(crate) fn of_catalogue(served: &ServedSpace, client: &Client) -> Overview {
        let cards = served.catalogue.cards(|card| served.is_visible(card, client.caller()));
        Overview::of(served, cards, BTreeMap::new())
    }

    /// The exposed functions that a client may call. Reads files.
    pub(crate) fn of_exposed(served: &ServedSpace, client: &Client) -> Overview {
        let observed = |card: &Card| Some(cut(&served.observed.as_ref()?.text(&card.id)?, MAX_RESULT));
        let tools = visible(served, client).map(|exposed| {
            let is_unknown = exposed.output == Output::Unknown;
            let observed = if is_unknown { observed(&exposed.card) } else { None };
            let tool = ToolOverview { capability: exposed.card.capability.clone(), observed };
            (exposed.tool.name.to_string(), tool)
        });
        Overview::of(served, visible(served, client).map(|exposed| &exposed.card), tools.collect())
    }

    fn of<'a>(
        served: &ServedSpace,
        cards: impl Iterator<Item = &'a Card>,
        tools: BTreeMap<String, ToolOverview>,
    ) -> Overview {
        let modules = modules(cards);
        let known: HashSet<&str> = modules.iter().map(|module| module.module.as_str()).collect();
        let is_known = |server: &&ServerInstructions| known.contains(server.module.as_str());
        let servers = served.server_instructions.iter().filter(is_known).cloned().collect();
        Overview { modules, servers, tools, is_growing: served.is_growing() }
    }
}

fn visible<'a>(served: &'a ServedSpace, client: &'a Client) -> impl Iterator<Item = &'a ExposedTool> {
    served.exposed.iter().filter(|exposed| served.is_visible(&exposed.card, client.caller()))
}

/// Groups functions by module, in the order in which the modules appear.
fn modules<'a>(cards: impl Iterator<Item = &'a Card>) -> Vec<ModuleOverview> {
    let mut modules: Vec<ModuleOverview> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for card in cards {
        let place = *places.entry(card.module.as_str()).or_insert(modules.len());
        if place == modules.len() {
            modules.push(ModuleOverview { module: card.module.clone(), functions: 0, names: Vec::new() });
        }
        if let Some(module) = modules.get_mut(place) {
            module.functions += 1;
            if module.names.len() < MAX_NAMED {
                module.names.push(cut(&card.label, MAX_NAME));
            }
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn card(module: &str, function: usize) -> Card {
        serde_json::from_value(json!({
            "module": module, "capability": "crm", "label": format!("crm.f{function}"), "name": format!("f{function}"),
            "title": null, "signature": "", "description": "", "parameters": [], "example": "",
            "id": format!("capabilities:crm/crm@1.0.0#f{function}"), "requires_approval": null, "scopes": [],
            "is_server_tool": true, "is_read_only": true,
        }))
        .unwrap()
    }

    #[test]
    fn functions_are_counted_by_module_and_some_are_named() {
        let mut cards: Vec<Card> = (0..20).map(|number| card("@capabilities/crm", number)).collect();
        cards.insert(3, card("@capabilities/wiki", 0));
        let modules = modules(cards.iter());
        let counts: Vec<(&str, usize, usize)> =
            modules.iter().map(|module| (module.module.as_str(), module.functions, module.names.len())).collect();
        assert_eq!(counts, [("@capabilities/crm", 20, MAX_NAMED), ("@capabilities/wiki", 1, 1)]);
        assert_eq!(modules[0].names[0], "crm.f0");
    }
}
