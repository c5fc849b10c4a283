//! MCP server instructions of code mode.

use crate::cards::{Card, cut};
use agent_spaces_types::counted::counted;
use std::collections::HashSet;

/// Maximum number of capabilities to name, and maximum length of a name, so that the instructions stay short.
const MAX_NAMED: usize = 25;
const MAX_NAME: usize = 32;

/// Builds the instructions, with an example from the user's own functions.
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
    let coming = if is_growing { " More are still loading: search for them." } else { "" };
    let verb = if functions == 1 { "is" } else { "are" };
    let has = format!("There {verb} {} of: {named}{more}.{coming}", counted(functions, "function"));
    text(&has, &example.map(program).unwrap_or_default())
}

/// Builds the instructions while the functions are still unknown.
pub(super) fn unknown() -> String {
    text("The functions are still loading: search for them.", "")
}

fn text(has: &str, example: &str) -> String {
    format!(
        "You write TypeScript programs that call typed functions, instead of calling tools one by one.\n\
         1. search_capabilities: find functions in plain words.\n\
         2. describe_capabilities: read their exact declarations.\n\
         3. run_code: run a program. Its default export is what you get back, so loop, filter and combine in code and \
         return only what matters. Independent calls go in Promise.all. A failed call throws a CapabilityError with \
         code, message and retryable. Files, network and npm packages exist only as far as declared; \
         console.log is shown to you.\n\
         A run that takes long or waits for a person's approval returns a handle: pass it as resume.\n\
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
    use crate::code_mode::instructions::*;
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
    fn the_instructions_stay_short_with_many_functions() {
        let server = |number: usize| format!("server-{number}-{}", "y".repeat(60));
        let cards: Vec<Card> = (0..3_000).map(|number| card(&server(number / 10), "f", "", true)).collect();
        let text = instructions(cards.iter(), false);
        assert!(text.contains("There are 3000 functions") && text.contains("and 275 more"), "{text}");
        assert!(text.chars().count() < 2_500, "{}", text.chars().count());
    }

    #[test]
    fn the_example_is_a_read_only_function_of_the_user() {
        let mut standard = card("time", "now", "", true);
        standard = serde_json::from_value({
            let mut value = json!(standard);
            value["id"] = "agent-spaces:std/time@1.0.0#now".into();
            value
        })
        .unwrap();
        let cards = [standard, card("mail", "send", "", false), card("mail", "list", "{ folder: '…' }", true)];
        let text = instructions(cards.iter(), true);
        assert!(text.contains("await mail.list({ folder: '…' });"), "{text}");
        assert!(text.contains("still loading"), "{text}");
        assert!(!instructions(cards.iter().take(1), false).contains("Example"), "nothing of the user's own");
    }
}
