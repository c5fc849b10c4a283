//! Outcome of a question: exit status, JSON object, summary for people.

use crate::commands::{known_secrets, output, terminal};
use agent_spaces::agent::{Ending, Outcome, OutputFormat};
use serde_json::{Value, json};

/// Exit status of an ending.
pub(super) fn exit_status(ending: Ending) -> u8 {
    match ending {
        Ending::Done | Ending::CallerTools => 0,
        Ending::Refused | Ending::InvalidOutput => 1,
        Ending::TurnLimit | Ending::Length | Ending::ContextLimit | Ending::Budget | Ending::Time => 3,
        Ending::ModelFailed | Ending::Store => 5,
        Ending::Cancelled => 130,
    }
}

/// The object of `--json`.
pub(super) fn to_json(outcome: &Outcome) -> Value {
    let mut object = json!({
        "ok": exit_status(outcome.ending) == 0,
        "text": outcome.text,
        "ending": outcome.ending.code(),
        "usage": outcome.usage,
        "turns": outcome.turns,
        "model": outcome.model,
        "session": (!outcome.session.is_empty()).then_some(&outcome.session),
    });
    let optional = [
        ("value", outcome.value.clone()),
        ("message", outcome.message.clone().map(Value::String)),
        ("cost", outcome.cost.map(Value::from)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            object[name] = value;
        }
    }
    known_secrets::redactor().value(&mut object);
    object
}

/// Prints what was not streamed, and how the question ended. Returns the exit status.
pub(super) fn show(outcome: &Outcome, format: &OutputFormat, is_printed: bool) -> u8 {
    let written = match (&outcome.value, format) {
        (Some(value), OutputFormat::Json(_)) => {
            output::print_line(&serde_json::to_string_pretty(value).unwrap_or_default())
        }
        _ if is_printed || outcome.text.is_empty() => 0,
        _ => output::print_document(&format!("{}\n", outcome.text.trim_end())),
    };
    if let Some(message) = &outcome.message {
        terminal::warn(&format!("{message} ({})", outcome.ending.code()));
    }
    if terminal::is_stderr_terminal() {
        let usage = &outcome.usage;
        let cost = outcome.cost.map(|cost| format!(", cost {cost:.4}")).unwrap_or_default();
        let model = outcome.model.as_deref().unwrap_or("no model");
        let text = format!("{model}, {} tokens in, {} out{cost}", usage.input_tokens, usage.output_tokens);
        terminal::note(terminal::clean_line(&text));
    }
    match exit_status(outcome.ending) {
        0 => written,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::agent::outcome::{exit_status, to_json};
    use agent_spaces::agent::{Ending, Outcome};
    use agent_spaces::models::Usage;
    use serde_json::json;

    #[test]
    fn the_object_has_no_empty_members() {
        let outcome = Outcome {
            session: String::new(),
            text: "Hello".to_owned(),
            value: None,
            ending: Ending::Budget,
            message: Some("spent".to_owned()),
            calls: Vec::new(),
            turns: 2,
            usage: Usage { input_tokens: 3, ..Usage::default() },
            cost: None,
            model: Some("a/b".to_owned()),
        };
        let object = to_json(&outcome);
        assert_eq!(
            (&object["ok"], &object["ending"], &object["message"]),
            (&json!(false), &json!("budget"), &json!("spent"))
        );
        assert_eq!((&object["session"], object.get("cost"), object.get("value")), (&json!(null), None, None));
        assert_eq!(object["usage"]["inputTokens"], 3);
        assert_eq!((exit_status(Ending::Done), exit_status(Ending::ContextLimit)), (0, 3));
    }
}
