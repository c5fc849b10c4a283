//! Which servers of a toolbox a caller has any use for. The others are not even started for them.

use super::open::{Candidate, Toolboxes, own_cards};
use crate::run::Caller;
use std::collections::BTreeSet;

impl Toolboxes {
    /// Leaves servers out of whose tools this caller may call none. Of one that nobody has opened before, nobody knows its
    /// tools yet.
    pub(super) fn useful(&self, candidates: Vec<Candidate>, caller: &Caller) -> Result<Vec<Candidate>, String> {
        let known = candidates.iter().filter_map(|candidate| Some((candidate, candidate.accepted.clone()?)));
        let known: Vec<_> = known.collect();
        if known.is_empty() {
            return Ok(candidates);
        }
        let (space, definitions) = self.space_of(&known)?;
        let mut useless = BTreeSet::new();
        for (candidate, accepted) in &known {
            let is_tool = |name: &str| accepted.tools.iter().any(|tool| tool["name"] == name);
            let cards = own_cards(&definitions, &candidate.configured).map_err(|error| error.to_string())?;
            let mut tools = cards.iter().filter(|card| is_tool(&card.name)).peekable();
            if tools.peek().is_some() && !tools.any(|card| space.is_open(&card.known(), caller)) {
                useless.insert(candidate.server.clone());
            }
        }
        Ok(candidates.into_iter().filter(|candidate| !useless.contains(&candidate.server)).collect())
    }
}
