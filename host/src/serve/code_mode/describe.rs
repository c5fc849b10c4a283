//! `describe_capabilities`

use super::arguments::{Argument, Kind};
use super::pages::{self, More, PAGE, Page};
use super::{CodeMode, answered, refused, unstructured};
use crate::serve::caller::Client;
use crate::serve::cards::{Card, cut};
use crate::serve::catalogue::Described;
use crate::serve::declare::{Declaration, places_between};
use crate::serve::observed::ObservedResults;
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;

/// Most names of one request, and most characters that are repeated of one that nothing has.
pub(super) const MAX_NAMES: usize = 100;
const MAX_NAME: usize = 100;

/// Most functions of which it is told what their results were like.
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
            return unstructured(refused(format!("name one function at least, and {MAX_NAMES} at most")));
        }
        let offered = self.known().await;
        let (caller, asked) = (client.clone(), offered.clone());
        // A module of many functions takes a while to compile.
        let described = tokio::task::spawn_blocking(move || {
            let described = asked.catalogue.describe(&names, |card| asked.is_visible(card, caller.caller()))?;
            let declarations = declarations(&described, asked.observed.as_ref());
            Ok::<_, crate::project::ProjectError>((described, declarations))
        });
        let (described, declarations) = match described.await.map_err(|error| error.to_string()) {
            Ok(Ok(described)) => described,
            Ok(Err(error)) => return unstructured(refused(error.to_string())),
            Err(error) => return unstructured(refused(error)),
        };
        let number = part.unwrap_or(1);
        let places = places_between(&declarations);
        let Some(Page { text: declarations, more }) = pages::page_between(&declarations, number, PAGE, &places) else {
            return unstructured(refused(format!("there is no part {number} of that")));
        };
        let mut text = declarations.to_owned();
        if let Some(More { characters, next }) = more {
            let single = match described.functions.as_slice() {
                [first, _, ..] => {
                    format!(", or for single functions: {{\"names\": [{}]}}", json!(first.label))
                }
                _ => String::new(),
            };
            let _ =
                write!(text, "\n[… {characters} more characters: ask for the same with {{\"part\": {next}}}{single}]");
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

/// What can be called first, what it needs after that, and last what results were like that have no type.
fn declarations(described: &Described, observed: Option<&ObservedResults>) -> String {
    let whole = described.declared.iter().map(Declaration::signatures_first).collect::<Vec<_>>().join("\n");
    let is_short = whole.chars().nth(PAGE).is_none();
    let mut text = match is_short || described.declared.len() < 2 {
        true => whole,
        // The types of one module do not come before the functions of the next.
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
            "\n// Results without a type, as earlier ones were (names and types; others may differ):\n{seen}"
        );
    }
    text
}
