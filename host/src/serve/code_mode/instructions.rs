//! What a model is taught when it connects.

use crate::serve::cards::{Card, cut};
use capability_gen::counted::counted;
use std::collections::HashSet;

/// Most capabilities that are named, and most characters of a name: what is taught stays short, whatever is connected.
const MAX_NAMED: usize = 25;
const MAX_NAME: usize = 32;

/// How to work with the server, with an example of what this user has.
pub(super) fn instructions<'a>(cards: impl Iterator<Item = &'a Card>, is_growing: bool) -> String {
    let (mut capabilities, mut seen) = (Vec::new(), HashSet::new());
    let mut example: Option<&Card> = None;
    let mut functions = 0_usize;
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
    let verb = if functions == 1 { "is" } else { "are" };
    let has = format!("There {verb} {} of: {named}{more}.{coming}", counted(functions, "function"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn card(server: &str, function: &str, example: &str, is_read_only: bool) -> Card {
        serde_json::from_value(json!({
            "module": format!("@capabilities/mcp-{server}"), "capability": server, "label": format!("{server}.{function}"),
            "name": function, "title": null, "signature": "", "description": "x".repeat(2_000), "parameters": [],
            "example": example, "id": format!("capabilities:mcp-{server}/{server}@1.0.0#{function}"),
            "requires_approval": null, "scopes": [], "is_server_tool": true, "is_read_only": is_read_only,
        }))
        .unwrap()
    }

    #[test]
    fn what_is_taught_stays_short_whatever_there_is() {
        let server = |number: usize| format!("server-{number}-{}", "y".repeat(60));
        let cards: Vec<Card> = (0..3_000).map(|number| card(&server(number / 10), "f", "", true)).collect();
        let taught = instructions(cards.iter(), false);
        assert!(taught.contains("There are 3000 functions") && taught.contains("and 275 more"), "{taught}");
        assert!(taught.chars().count() < 2_500, "{}", taught.chars().count());
    }

    #[test]
    fn the_example_reads_something_of_the_users_own() {
        let mut standard = card("time", "now", "", true);
        standard = serde_json::from_value({
            let mut value = json!(standard);
            value["id"] = "agent-spaces:std/time@1.0.0#now".into();
            value
        })
        .unwrap();
        let cards = [standard, card("mail", "send", "", false), card("mail", "list", "{ folder: '…' }", true)];
        let taught = instructions(cards.iter(), true);
        assert!(taught.contains("await mail.list({ folder: '…' });"), "{taught}");
        assert!(taught.contains("still being asked for"), "{taught}");
        assert!(!instructions(cards.iter().take(1), false).contains("Example"), "nothing of the user's own");
    }
}
