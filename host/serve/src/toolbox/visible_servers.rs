//! Servers of a toolbox with tools that a caller may call. The others are not started.

use super::open::{Candidate, Toolboxes, own_cards};
use agent_spaces_types::caller::Caller;
use std::collections::BTreeSet;

impl Toolboxes {
    /// Removes servers whose tools this caller may not call. Servers without a lock entry stay: their tools are
    /// unknown.
    pub(super) fn with_visible_tools(
        &self,
        candidates: Vec<Candidate>,
        caller: &Caller,
    ) -> Result<Vec<Candidate>, String> {
        let known = candidates.iter().filter_map(|candidate| Some((candidate, candidate.accepted.clone()?)));
        let known: Vec<_> = known.collect();
        if known.is_empty() {
            return Ok(candidates);
        }
        let (space, definitions) = self.space_of(&known)?;
        let mut hidden = BTreeSet::new();
        for (candidate, accepted) in &known {
            let is_tool = |name: &str| accepted.tools.iter().any(|tool| tool["name"] == name);
            let cards = own_cards(&definitions, &candidate.configured).map_err(|error| error.to_string())?;
            let mut tools = cards.iter().filter(|card| is_tool(&card.name)).peekable();
            if tools.peek().is_some() && !tools.any(|card| space.is_open(&card.known(), caller)) {
                hidden.insert(candidate.server.clone());
            }
        }
        Ok(candidates.into_iter().filter(|candidate| !hidden.contains(&candidate.server)).collect())
    }
}
