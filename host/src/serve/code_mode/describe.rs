//! `describe_capabilities`

use super::pages::{self, More, PAGE, Page};
use super::{CodeMode, answered, refused, unstructured};
use crate::serve::caller::Client;
use crate::serve::cards::cut;
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;

/// Most names of one request, and most characters that are repeated of one that nothing has.
pub(super) const MAX_NAMES: usize = 100;
const MAX_NAME: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribeArguments {
    names: Vec<String>,
    part: Option<usize>,
}

impl CodeMode {
    pub(super) async fn describe(
        &self,
        client: &Client,
        DescribeArguments { names, part }: DescribeArguments,
    ) -> CallToolResult {
        if names.is_empty() || names.len() > MAX_NAMES {
            return unstructured(refused(format!("name one function at least, and {MAX_NAMES} at most")));
        }
        let offered = self.known().await;
        let (caller, asked) = (client.clone(), offered.clone());
        // A module of many functions takes a while to compile.
        let described = tokio::task::spawn_blocking(move || {
            asked.catalogue.describe(&names, |card| asked.is_visible(card, caller.caller()))
        });
        let described = match described.await.map_err(|error| error.to_string()) {
            Ok(Ok(described)) => described,
            Ok(Err(error)) => return unstructured(refused(error.to_string())),
            Err(error) => return unstructured(refused(error)),
        };
        let number = part.unwrap_or(1);
        let Some(Page { text: declarations, more }) = pages::page(&described.declarations, number, PAGE) else {
            return unstructured(refused(format!("there is no part {number} of that")));
        };
        let mut text = declarations.to_owned();
        if let Some(More { characters, next }) = more {
            let _ = write!(
                text,
                "\n[… {characters} more characters: ask for the same with {{\"part\": {next}}}, or name fewer functions]"
            );
        }
        let unknown = described.unknown.iter().map(|(name, near)| (cut(name, MAX_NAME), near));
        let unknown: Vec<(String, &Option<String>)> = unknown.collect();
        for (name, near) in &unknown {
            let near = near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let _ = write!(text, "\nThere is no `{name}`{near}");
        }
        if !unknown.is_empty() {
            offered.notes(client).iter().for_each(|note| {
                let _ = write!(text, "\nnote: {note}");
            });
        }
        let unknown: Vec<&String> = unknown.iter().map(|(name, _)| name).collect();
        let is_error = declarations.is_empty();
        let mut result =
            answered(text.trim_start().to_owned(), json!({ "declarations": declarations, "unknown": unknown }));
        result.is_error = Some(is_error);
        result
    }
}
