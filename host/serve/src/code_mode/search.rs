//! `search_capabilities`

use super::arguments::{Argument, Kind};
use super::{CodeMode, answered, refused, unstructured};
use crate::cards::Card;
use crate::served_space::ServedSpace;
use agent_spaces_http_server::Client;
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Default and maximum number of results.
const DEFAULT_LIMIT: usize = 10;
pub(super) const MAX_LIMIT: usize = 50;

pub(super) const ARGUMENTS: [Argument; 2] = [
    Argument { name: "query", kind: Kind::Text, is_required: true },
    Argument { name: "limit", kind: Kind::Count, is_required: false },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    query: String,
    limit: Option<usize>,
}

impl CodeMode {
    pub(super) async fn search(
        &self,
        client: &Client,
        SearchArguments { query, limit }: SearchArguments,
    ) -> CallToolResult {
        let served = self.known().await;
        let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        // Those that take turns have their processors from there; a permit would wait with them.
        let permit = match self.0.offers.turns(client) {
            Some(_) => None,
            None => Some(self.0.searches.enter().await),
        };
        let asked = client.clone();
        // CPU-bound for up to some tenths of a second with a sentence model.
        let found = self.0.offers.compute(client, move || {
            // Held until the search ends, even if its request was dropped.
            let _permit = permit;
            find(&served, &asked, &query, limit)
        });
        found.await.unwrap_or_else(|| unstructured(refused("the search failed".to_owned())))
    }
}

fn find(served: &ServedSpace, client: &Client, query: &str, limit: usize) -> CallToolResult {
    let found = served.catalogue.search(query, limit, |card| served.is_visible(card, client.caller()));
    let line = |card: &&Card| format!("{} — {} [{}]", card.call(), card.summary(), card.module);
    let mut text = found.iter().map(line).collect::<Vec<_>>().join("\n");
    if found.is_empty() {
        text = "No matching functions. Try other or fewer words.".to_owned();
    }
    let notes = served.notes(client);
    for note in &notes {
        let _ = write!(text, "\nnote: {note}");
    }
    let functions: Vec<Value> = found
        .iter()
        .map(|card| {
            json!({
                "name": card.label, "module": card.module, "signature": card.signature,
                "description": card.summary(),
            })
        })
        .collect();
    answered(text, json!({ "functions": functions, "notes": notes }))
}
