use super::{MARGIN, Style, prompt_text};
use crate::fixtures::{LONG, question};
use crate::request::{Question, Request};
use serde_json::json;

/// Escape sequences and invisible characters that could redraw the prompt.
const HOSTILE: &str = "\x1b[2J\x1b[H\x1b]0;title\x07\u{9b}1A\r\nIts arguments:\n\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\u{85}\x0b\x0c\x08\x7f\nYour answer (y, r, a or n): y\nAllowed, this once.\n";

fn hostile() -> Request {
    let params = json!({ HOSTILE: HOSTILE, "list": vec![HOSTILE; 100], "z": "日".repeat(200) });
    let question = Question {
        run_id: HOSTILE.into(),
        space: Some(HOSTILE.into()),
        capability: HOSTILE.into(),
        module: HOSTILE.into(),
        source: HOSTILE.into(),
        message: format!("{HOSTILE}{}", "日本".repeat(50_000)),
        places: vec![HOSTILE.into(); 30],
        ..question(HOSTILE, params)
    };
    // Bypasses the limits of `new`: a file may contain anything.
    let mut written = json!(Request::new(question, LONG));
    written["message"] = json!(format!("{HOSTILE}{}", "x".repeat(100_000)));
    written["places"] = json!(vec![HOSTILE; 30]);
    written["digest"] = json!(HOSTILE);
    // An invalid identity is not parsed.
    written["functionId"] = json!("capabilities:crm/crm@1.0.0#create-ticket");
    written["source"] = json!(format!("{HOSTILE}{}", "x".repeat(100_000)));
    written["redacted"] = json!(true);
    serde_json::from_value(written).unwrap()
}

#[test]
fn a_prompt_shows_caller_call_and_expiry() {
    let mut request = Request::new(question("createTicket", json!({ "title": "Help", "id": 7 })), LONG);
    request.run_id = "run_1".into();
    let text = prompt_text(&request, 80, 2, Style::Plain);
    let expected = format!(
        r#"A call needs your approval:
│ crm.createTicket
│ of @capabilities/crm, answered by MCP server crm (npx crm-server)
│ capabilities:crm/crm@1.0.0#create-ticket
│ space support, run run_1, call 4
Its arguments:
│ {{
│   "id": 7,
│   "title": "Help"
│ }}
sha256 {}
Message of the capability (unverified):
│ Create a ticket for Ada
Called by the script at:
│ agent.ts:5
It expires in 9m 59s, at {}.
2 more requests wait after this one.
  y  allow this call
  r  allow every call of this function in this run
  a  allow every call of it with these arguments in this run
  n  deny it; you may add why: n not today
"#,
        request.digest,
        crate::times::text(request.expires)
    );
    assert_eq!(text, expected.as_str());
}

#[test]
fn a_prompt_says_that_secrets_are_redacted() {
    let question = Question { shown: Some(json!({ "token": "[redacted]" })), ..question("f", json!({ "token": "x" })) };
    let request = Request::new(question, LONG);
    let text = prompt_text(&request, 80, 0, Style::Plain);
    let told = format!("[redacted] replaces secrets; they are sent, and are in the hash.\nsha256 {}\n", request.digest);
    assert!(text.contains(&told) && !text.contains("\"x\""), "{text}");
}

#[test]
fn unknown_details_are_omitted() {
    let question = Question { space: None, message: " \n".into(), places: vec![], ..question("f", json!({})) };
    let text = prompt_text(&Request::new(question, LONG), 80, 0, Style::Plain);
    assert!(!text.contains("Message of") && !text.contains("script") && !text.contains("space"), "{text}");
    assert!(!text.contains("wait after") && text.contains("│ {}\n"), "{text}");
}

#[test]
fn untrusted_text_cannot_leave_its_margin() {
    for width in [0, 12, 40, 80, 1_000] {
        let text = prompt_text(&hostile(), width, 0, Style::Plain);
        assert!(text.chars().all(|character| character == '\n' || !agent_spaces_types::hidden::is_hidden(character)));
        let own: Vec<&str> = text.lines().filter(|line| !line.starts_with(MARGIN)).collect();
        assert!(text.lines().count() < 90, "{}", text.lines().count());
        for line in &own {
            // Lines that the untrusted text imitates occur once each.
            assert_eq!(own.iter().filter(|other| other == &line).count(), 1, "{line}");
            assert!(!line.contains("Your answer") && !line.contains("Allowed"), "{line}");
        }
        assert!(
            own.contains(&"Its arguments:") && own.iter().any(|line| line.contains("are not shown, and are approved"))
        );
        let columns = |line: &str| line.chars().map(|it| if it.is_ascii() || it == '│' { 1 } else { 2 }).sum::<usize>();
        let strangers = text.lines().filter(|line| line.starts_with(MARGIN));
        assert!(strangers.map(columns).max().unwrap() < width.clamp(10, 160), "at {width}");
    }
}

#[test]
fn untrusted_text_cannot_set_colours() {
    let coloured = prompt_text(&hostile(), 80, 0, Style::Coloured);
    let plain = prompt_text(&hostile(), 80, 0, Style::Plain);
    assert_eq!(coloured.replace("\x1b[1m", "").replace("\x1b[33m", "").replace("\x1b[0m", "").len(), plain.len());
    assert!(coloured.lines().all(|line| !line.starts_with(MARGIN) || !line.contains('\x1b')));
    assert!(coloured.contains("\x1b[1mIts arguments:\x1b[0m"));
}
