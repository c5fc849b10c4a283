//! Terminal output during a prompt.

use crate::approvals::support::{FILE_SYSTEM, PROMPT, TerminalUser};
use std::thread::sleep;
use std::time::Duration;

/// Text that would clear the screen, go to its beginning, overwrite lines, turn direction, set the window's title and
/// pose as a prompt.
const HOSTILE: &str = r"\u001b[2J\u001b[H\u001b]0;title\u0007\u009b2A\rA call needs your approval:\r\n{}\nIts arguments:\u2028\u202e\u200bYour answer (y, r, a or n): y\nAllowed, this once.\b\b\b";

/// Beginnings of our own rows.
const OURS: [&str; 11] = [
    "A call needs your approval:",
    "Its arguments:",
    "sha256 ",
    "Message of the capability (unverified):",
    "Called by the script at:",
    "It expires in ",
    "  y  allow this call",
    "  r  allow every call of this function in this run",
    "  a  allow every call of it with these arguments in this run",
    "  n  deny it; you may add why",
    "Your answer (y, r, a or n):",
];

/// Starts a script whose call has this path; returns the rows of the screen at its prompt.
fn asked(path: &str) -> (TerminalUser, Vec<String>) {
    let body = format!("await fileSystem.deleteFile({{ path: '{path}' }});");
    let person = TerminalUser::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(&body), &[]);
    person.waits_for(PROMPT, 1);
    sleep(Duration::from_millis(700));
    let rows = person.rows();
    (person, rows)
}

/// Asserts that our rows, and no others, start at the left margin, in this order.
fn assert_whole(rows: &[String]) {
    let own: Vec<&String> = rows.iter().filter(|row| !row.is_empty() && !row.starts_with("│ ")).collect();
    assert_eq!(own.len(), OURS.len(), "{rows:#?}");
    for (row, ours) in own.iter().zip(OURS) {
        assert!(row.starts_with(ours), "{ours}: {rows:#?}");
    }
}

#[test]
fn untrusted_text_stays_behind_a_margin() {
    let (person, rows) = asked(HOSTILE);
    assert_whole(&rows);
    let between = |from: &str, to: &str| {
        let at = |text: &str| rows.iter().position(|row| row.starts_with(text)).unwrap();
        rows[at(from) + 1..at(to)].join("\n").replace("\n│ ", "")
    };
    // The argument as it is sent, to the letter.
    let arguments = between("Its arguments:", "sha256 ");
    let seen = HOSTILE.replace(r"\b\b\b", r"\u0008\u0008\u0008");
    assert!(arguments.contains(&format!(r#""path": "{seen}""#)), "{arguments}");
    // The message shows what would act on a terminal, and no row of it begins without the margin.
    let message = between("Message of the capability", "Called by");
    assert!(
        message.starts_with("│ Delete file: <U+001B>[2J<U+001B>[H<U+001B>]0;title<U+0007><U+009B>2A A call"),
        "{message}"
    );
    person.types("n\n");
    let (_, text) = person.ends();
    for sequence in ["\u{1b}[2J", "\u{1b}[H", "\u{1b}]", "\u{9b}", "\u{202e}", "\u{200b}", "\u{8}", "\u{7}"] {
        assert!(!text.contains(sequence), "{sequence:?}: {text:?}");
    }
    assert!(text.contains("call.approval_denied"), "{text}");
}

#[test]
fn a_long_message_does_not_hide_the_arguments() {
    let (_, rows) = asked(&r"one\n".repeat(10));
    assert_whole(&rows);
}

#[test]
fn a_long_argument_does_not_hide_the_choices() {
    let (_, rows) = asked(&"x".repeat(100_000));
    for shown in
        ["│   \"path\": \"xxx", "characters are not shown", "  y  allow this call", "  n  deny it", PROMPT.trim()]
    {
        assert!(rows.join("").replace("│ ", "").contains(&shown.replace("│ ", "")), "{shown}: {rows:#?}");
    }
}

/// A script that prints while its call waits.
const NOISE: &str = "const print = (text) => { console.log(text); console.error(text); };
    print('noise before');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const waiting = fileSystem.deleteFile({ path: 'a' });
    for (let turn = 0; turn < 20; turn++) setTimeout(() => print(`noise ${turn}`), 500 + 25 * turn);
    setTimeout(() => print('  y  allow this call'), 500);
    await waiting;
    print('noise after');";

/// Returns the output between the prompt and its answer.
fn beside_prompt(options: &[&str]) -> (String, String) {
    let person = TerminalUser::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(NOISE), options);
    person.waits_for(PROMPT, 1);
    sleep(Duration::from_millis(1_500));
    let shown = person.text();
    person.types("y\n");
    let (status, text) = person.ends();
    assert_eq!(status, Some(0), "{text}");
    let (_, beside) = shown.split_once("A call needs your approval").unwrap();
    (beside.to_owned(), text)
}

#[test]
fn script_output_is_held_back_during_a_prompt() {
    let (beside, text) = beside_prompt(&[]);
    assert!(!beside.contains("noise") && beside.matches("allow this call").count() == 1, "{beside}");
    // It is held back, not lost, and in its order.
    let order =
        ["noise before", "A call needs your approval", "Allowed, this once.", "noise 0", "noise 19", "noise after"];
    let places: Vec<usize> =
        order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"))).collect();
    assert!(places.is_sorted(), "{places:?}: {text}");
}

#[test]
fn events_are_held_back_during_a_prompt() {
    let (beside, text) = beside_prompt(&["--events"]);
    assert!(!beside.contains("noise"), "{beside}");
    assert!(text.contains("noise 19"), "{text}");
}

#[test]
fn keys_typed_before_the_prompt_are_ignored() {
    let home = FILE_SYSTEM.home();
    home.write("script.ts", &FILE_SYSTEM.attempt());
    let person = TerminalUser::typing(&home, "y\ny\n", "script.ts", &[]);
    // And by a hand that was already moving.
    person.waits_for(PROMPT, 1);
    person.types("y\nr\n");
    person.waits_for("are ignored", 1);
    sleep(Duration::from_millis(300));
    assert!(!person.text().contains("Allowed"), "{}", person.text());
    person.types("n\n");
    let (_, text) = person.ends();
    assert!(text.contains("said <call.approval_denied"), "{text}");
}

#[test]
fn invalid_answers_are_asked_again_and_end_of_input_denies() {
    let person = TerminalUser::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.attempt(), &[]);
    person.answers(1, "sure\n");
    person.waits_for("Please answer y, r, a or n: ", 1);
    person.types("\n");
    person.waits_for("Please answer y, r, a or n: ", 2);
    person.types("yes please\n");
    person.waits_for("Please answer y, r, a or n: ", 3);
    // Ctrl-D.
    person.types("\u{4}");
    let (_, text) = person.ends();
    assert!(text.contains("said <call.approval_denied"), "{text}");
}

#[test]
fn prompts_are_shown_one_at_a_time() {
    let body =
        "const attempt = (path) => fileSystem.deleteFile({ path }).catch((error) => `${path}: ${error.message}`);
        export default await Promise.all(['a', 'b', 'c'].map(attempt));";
    let person = TerminalUser::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(body), &[]);
    for prompt in 1..=3 {
        person.answers(prompt, &format!("n number {prompt}\n"));
        person.waits_for("Denied.", prompt);
    }
    let (_, text) = person.ends();
    assert!(text.contains("1 more request waits"), "{text}");
    // Each answer reached the call that was shown with it, whichever that was.
    let prompts: Vec<&str> = text.split("A call needs your approval").skip(1).collect();
    assert_eq!(prompts.len(), 3, "{text}");
    for (prompt, shown) in prompts.into_iter().enumerate() {
        let (_, path) = shown.split_once("\"path\": \"").unwrap();
        let told = format!("{}: fileSystem.deleteFile was not approved: number {}", &path[..1], prompt + 1);
        assert!(text.contains(&told), "{told}: {text}");
    }
}
