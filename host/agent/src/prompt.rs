//! The system prompt: the agent's own text, then instructions of its tools, then the output format.

use crate::definition::OutputFormat;
use crate::tools::Instructions;
use std::fmt::Write as _;

/// Bytes of all instructions of tools together. Servers write them: one may not fill the context window.
const MAX_INSTRUCTIONS: usize = 64 << 10;

/// Heading before all instructions.
const HEADING: &str = "## TOOLS' INSTRUCTIONS";

/// Builds the system prompt. Schemas of tools are never in it: they are in the request's tools.
pub(crate) fn system_prompt(
    prompt: &str,
    instructions: &[Instructions],
    caller: Option<&str>,
    output: &OutputFormat,
) -> String {
    let mut text = prompt.trim_end().to_owned();
    if let Some(caller) = caller.map(str::trim).filter(|caller| !caller.is_empty()) {
        paragraph(&mut text, caller);
    }
    add_instructions(&mut text, instructions);
    match output {
        OutputFormat::Text => {}
        OutputFormat::Markdown => paragraph(&mut text, "Write your answer in Markdown."),
        OutputFormat::Json(schema) => {
            paragraph(
                &mut text,
                "Your final answer is one JSON value and nothing else: no prose, no code fence. It obeys this JSON Schema:",
            );
            let _ = write!(text, "\n{schema}");
        }
    }
    text
}

fn add_instructions(text: &mut String, instructions: &[Instructions]) {
    let mut room = MAX_INSTRUCTIONS;
    let mut has_heading = false;
    for Instructions { of, text: words } in instructions {
        let words = words.trim();
        if words.is_empty() {
            continue;
        }
        if !std::mem::replace(&mut has_heading, true) {
            paragraph(text, HEADING);
        }
        paragraph(text, &format!("## TOOL {of} INSTRUCTIONS"));
        let cut = words.floor_char_boundary(room.min(words.len()));
        room -= cut;
        paragraph(text, &words[..cut]);
        if cut < words.len() {
            paragraph(text, "(more instructions are left out)");
            return;
        }
    }
}

fn paragraph(text: &mut String, paragraph: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(paragraph);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(of: &str, text: &str) -> Instructions {
        Instructions { of: of.into(), text: text.into() }
    }

    #[test]
    fn instructions_have_their_headings_once() {
        let all = [of("slack", "Be brief."), of("empty", "  "), of("git", "Commit often.")];
        let text = system_prompt("You help.\n", &all, None, &OutputFormat::Text);
        assert_eq!(
            text,
            "You help.\n\n## TOOLS' INSTRUCTIONS\n\n## TOOL slack INSTRUCTIONS\n\nBe brief.\n\n## TOOL git INSTRUCTIONS\n\nCommit often."
        );
        assert_eq!(system_prompt("You help.", &[], None, &OutputFormat::Text), "You help.");
    }

    #[test]
    fn instructions_are_bounded() {
        let text =
            system_prompt("", &[of("a", &"é".repeat(MAX_INSTRUCTIONS)), of("b", "never")], None, &OutputFormat::Text);
        assert!(text.len() < MAX_INSTRUCTIONS + 200);
        assert!(!text.contains("never"));
    }

    #[test]
    fn a_schema_of_the_answer_is_in_the_prompt() {
        let text = system_prompt("", &[], Some("Speak French."), &OutputFormat::Json(json!({ "type": "object" })));
        assert!(text.starts_with("Speak French."));
        assert!(text.ends_with(r#"{"type":"object"}"#));
    }
}
