//! What a model is taught when it connects.

use crate::serve::cards::{Card, cut};
use std::collections::HashSet;

/// Most capabilities that are named, and most characters of a name: what is taught stays short, whatever is connected.
const MAX_NAMED: usize = 25;
const MAX_NAME: usize = 32;

/// How to work with the server, with an example of what this user has.
pub(super) fn instructions<'a>(cards: impl Iterator<Item = &'a Card>, is_growing: bool) -> String {
    let (mut capabilities, mut seen) = (Vec::new(), HashSet::new());
    let mut example: Option<&Card> = None;
    let mut functions = 0;
    for card in cards {
        functions += 1;
        if seen.insert(card.capability.as_str()) {
            capabilities.push(card.capability.as_str());
        }
        let is_better = example.is_none_or(|known| card.rank_as_example() < known.rank_as_example());
        if is_better && !card.is_standard() {
            example = Some(card);
        }
    }
    let named = capabilities.iter().take(MAX_NAMED).map(|name| cut(name, MAX_NAME)).collect::<Vec<_>>().join(", ");
    let more = capabilities.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let coming = if is_growing { " More are still being asked for: search for them." } else { "" };
    let has = format!("There are {functions} functions of: {named}{more}.{coming}");
    taught(&has, &example.map(program).unwrap_or_default())
}

/// The same where it is not known yet what there is.
pub(super) fn unknown() -> String {
    taught("The functions that there are are still being read: search for them.", "")
}

fn taught(has: &str, example: &str) -> String {
    format!(
        "You write TypeScript programs that call typed functions, instead of calling tools one by one.\n\
         1. search_capabilities: find functions in plain words.\n\
         2. describe_capabilities: read their exact declarations.\n\
         3. run_code: run a program. Its default export is what you get back, so loop, filter and combine in code and \
         return only what matters. Independent calls go in Promise.all. A failed call throws a CapabilityError with \
         code, message and retryable. There are no files, no network and no npm packages but what is declared; \
         console.log is shown to you.\n\
         A run that takes long or waits for a person's approval gives a handle: pass it as resume.\n\
         {has}\n{example}"
    )
}

fn program(card: &Card) -> String {
    format!(
        "Example:\n```ts\nimport {{ {} }} from '{}';\nconst found = await {}({});\nexport default found;\n```",
        card.export(),
        card.module,
        card.label,
        card.example
    )
}
