//! `describe_capabilities`

use super::arguments::{Argument, Kind};
use super::{CodeMode, answered, refused, unstructured};
use crate::cards::{Card, cut};
use crate::catalogue::Described;
use crate::declarations::{Declaration, break_offsets};
use crate::observed::ObservedResults;
use crate::pages::{self, More, PAGE, Page};
use agent_spaces_http_server::Client;
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;

/// Maximum number of names per request, and maximum length of an unknown name in the result.
pub(super) const MAX_NAMES: usize = 100;
const MAX_NAME: usize = 100;

/// Maximum number of functions with an inferred result type.
const MAX_OBSERVED: usize = 50;

pub(super) const ARGUMENTS: [Argument; 2] = [
    Argument { name: "names", kind: Kind::Texts, is_required: true },
    Argument { name: "part", kind: Kind::Count, is_required: false },
];

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
            return unstructured(refused(format!("`names` must have 1 to {MAX_NAMES} items")));
        }
        let served = self.known().await;
        let (caller, asked) = (client.clone(), served.clone());
        // A module of many functions takes a while to compile.
        let described = self.0.offers.compute(client, move || {
            let described = asked.catalogue.describe(&names, |card| asked.is_visible(card, caller.caller()))?;
            let declarations = declarations(&described, asked.observed.as_ref());
            Ok::<_, agent_spaces_project::ProjectError>((described, declarations))
        });
        let (described, declarations) = match described.await {
            Some(Ok(described)) => described,
            Some(Err(error)) => return unstructured(refused(error.to_string())),
            None => return unstructured(refused("the functions could not be described".to_owned())),
        };
        let number = part.unwrap_or(1);
        let breaks = break_offsets(&declarations);
        let Some(Page { text: declarations, more }) = pages::page_breaking_at(&declarations, number, PAGE, &breaks)
        else {
            return unstructured(refused(format!("part {number} is out of range")));
        };
        let mut text = declarations.to_owned();
        if let Some(More { characters, next }) = more {
            let single = match described.functions.as_slice() {
                [first, _, ..] => {
                    format!(", or with single functions: {{\"names\": [{}]}}", json!(first.label))
                }
                _ => String::new(),
            };
            let _ = write!(text, "\n[… {characters} more characters: call again with {{\"part\": {next}}}{single}]");
        }
        let unknown = described.unknown.iter().map(|(name, near)| (cut(name, MAX_NAME), near));
        let unknown: Vec<(String, &Option<String>)> = unknown.collect();
        for (name, near) in &unknown {
            let near = near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let _ = write!(text, "\nNot found: `{name}`{near}");
        }
        if !unknown.is_empty() {
            served.notes(client).iter().for_each(|note| {
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

/// Formats the signatures, then the types that they need, then the inferred result types.
fn declarations(described: &Described, observed: Option<&ObservedResults>) -> String {
    let whole = described.declared.iter().map(Declaration::signatures_first).collect::<Vec<_>>().join("\n");
    let is_short = whole.chars().nth(PAGE).is_none();
    let mut text = match is_short || described.declared.len() < 2 {
        true => whole,
        // All signatures come before the types of any module.
        false => {
            let (signatures, types): (Vec<String>, Vec<Option<String>>) =
                described.declared.iter().map(Declaration::apart).unzip();
            signatures.into_iter().chain(types.into_iter().flatten()).collect::<Vec<_>>().join("\n")
        }
    };
    let seen = |card: &Card| Some(format!("// {}: {}\n", card.label, observed?.text(&card.id)?));
    let unknown = described.functions.iter().filter(|card| card.has_unknown_result());
    let seen: String = unknown.filter_map(seen).take(MAX_OBSERVED).collect();
    if !seen.is_empty() {
        let _ = write!(
            text,
            "\n// Untyped results, as inferred from earlier calls (names and types; others may differ):\n{seen}"
        );
    }
    text
}
