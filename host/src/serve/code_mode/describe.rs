//! `describe_capabilities`

use super::pages::{self, PAGE};
use super::{CodeMode, answered, refused, unstructured};
use crate::serve::caller::Client;
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;

/// Most names of one request.
pub(super) const MAX_NAMES: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribeArguments {
    names: Vec<String>,
}

impl CodeMode {
    pub(super) async fn describe(
        &self,
        client: &Client,
        DescribeArguments { names }: DescribeArguments,
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
        let (declarations, mut text) = match pages::page(&described.declarations, 1, PAGE) {
            Some(page) => {
                let more = page.more.map(|more| more.characters);
                let note = |left: usize| {
                    format!(
                        "\n[… {left} more characters: name fewer functions, or read the module's index.d.ts among the resources]"
                    )
                };
                (page.text.to_owned(), page.text.to_owned() + &more.map(note).unwrap_or_default())
            }
            None => Default::default(),
        };
        for (name, near) in &described.unknown {
            let near = near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let _ = write!(text, "\nThere is no `{name}`{near}");
        }
        if !described.unknown.is_empty() {
            offered.notes(client).iter().for_each(|note| {
                let _ = write!(text, "\nnote: {note}");
            });
        }
        let unknown: Vec<&String> = described.unknown.iter().map(|(name, _)| name).collect();
        let is_error = declarations.is_empty();
        let mut result =
            answered(text.trim_start().to_owned(), json!({ "declarations": declarations, "unknown": unknown }));
        result.is_error = Some(is_error);
        result
    }
}
