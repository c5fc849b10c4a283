//! `search_capabilities`

use super::arguments::{Argument, Kind};
use super::{CodeMode, answered, refused, unstructured};
use crate::serve::caller::Client;
use crate::serve::cards::Card;
use crate::serve::offer::Offered;
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How many functions are found where the agent does not say, and at most.
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
        let offered = self.known().await;
        let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let place = self.0.searches.enter().await;
        let client = client.clone();
        // It computes for up to some tenths of a second, with a sentence model: other callers are served meanwhile.
        let found = tokio::task::spawn_blocking(move || {
            // Held until it is done, also where nobody waits for it any more.
            let _place = place;
            find(&offered, &client, &query, limit)
        });
        found.await.unwrap_or_else(|error| unstructured(refused(format!("the search failed: {error}"))))
    }
}

fn find(offered: &Offered, client: &Client, query: &str, limit: usize) -> CallToolResult {
    let found = offered.catalogue.search(query, limit, |card| offered.is_visible(card, client.caller()));
    let line = |card: &&Card| format!("{} — {} [{}]", card.call(), card.summary(), card.module);
    let mut text = found.iter().map(line).collect::<Vec<_>>().join("\n");
    if found.is_empty() {
        text = "Nothing fits. Ask in other words, or for less.".to_owned();
    }
    let notes = offered.notes(client);
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
