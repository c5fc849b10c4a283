//! Tests against a real pseudo-terminal, with its line discipline.

use super::{Channel, Style, TerminalChannel};
use crate::channel::ChannelError;
use crate::decision::{Decision, Lasts, Verdict};
use crate::desk::{Desk, Outcome};
use crate::fixtures::{LONG, question, request, request_of, until};
use crate::pending::{MAX_PENDING, Pending};
use crate::request::{Question, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};
use serde_json::json;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PROMPT: &str = "Your answer (y, r, a or n): ";

/// Person's side of a terminal of 60 columns.
struct Person {
    master: File,
    device: PathBuf,
    /// Keeps the terminal alive, as a shell does.
    keeper: Option<File>,
    /// Bytes, because a read may end inside a character.
    seen: Mutex<Vec<u8>>,
}

impl Person {
    fn new() -> Person {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let device = PathBuf::from(ptsname(&master, Vec::new()).unwrap().into_string().unwrap());
        let keeper = Some(super::tty::open_device(&device).unwrap());
        Person { master: File::from(master), device, keeper, seen: Mutex::default() }
    }

    fn channel(&self) -> TerminalChannel {
        let settle = Duration::from_millis(50);
        TerminalChannel { settle, style: Style::Plain, ..TerminalChannel::at(&self.device).unwrap() }
    }

    fn types(&self, keys: &str) {
        (&self.master).write_all(keys.as_bytes()).unwrap();
    }

    /// Returns the screen contents so far.
    fn sees(&self) -> String {
        let mut seen = self.seen.lock().unwrap();
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        while poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&none)).unwrap() > 0 {
            let mut bytes = [0; 4096];
            let count = (&self.master).read(&mut bytes).unwrap();
            seen.extend_from_slice(&bytes[..count]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    async fn waits_for(&self, text: &str, times: usize) {
        until(text, || self.sees().matches(text).count() >= times).await;
    }

    /// Reads the prompt before it answers.
    async fn answers(&self, prompt: usize, keys: &str) {
        self.waits_for(PROMPT, prompt).await;
        tokio::time::sleep(Duration::from_millis(120)).await;
        self.types(keys);
    }
}

/// True if a prompt's thread is running: only it holds the turn.
fn has_thread(channel: &TerminalChannel) -> bool {
    channel.turn.try_lock().is_err()
}

#[tokio::test]
async fn a_person_decides_on_a_real_terminal() {
    let person = Person::new();
    let channel = person.channel();
    for (index, (keys, verdict, lasts, reason)) in [
        ("y\n", Verdict::Approved, Lasts::Once, None),
        ("r\n", Verdict::Approved, Lasts::Run, None),
        ("a\n", Verdict::Approved, Lasts::Arguments, None),
        ("n\n", Verdict::Denied, Lasts::Once, None),
        ("n too dear\n", Verdict::Denied, Lasts::Once, Some("too dear".to_owned())),
        // The line is edited as everywhere: Ctrl-U takes it back.
        ("y\x15n\n", Verdict::Denied, Lasts::Once, None),
    ]
    .into_iter()
    .enumerate()
    {
        let (answer, ()) = tokio::join!(channel.ask(request()), person.answers(index + 1, keys));
        assert_eq!(answer.unwrap(), Decision { verdict, lasts, reason, by: "terminal".into() }, "{keys:?}");
    }
    person.waits_for("Allowed, this once.", 1).await;
}

#[tokio::test]
async fn invalid_answers_are_asked_again() {
    let person = Person::new();
    let channel = person.channel();
    let asked = async {
        // Of pasted lines the first is no answer, and the second was not meant as one.
        person.answers(1, "what?\ny\n").await;
        person.waits_for("Please answer y, r, a or n: ", 1).await;
        person.types("\n");
        person.waits_for("Please answer y, r, a or n: ", 2).await;
        person.types("n\n");
    };
    let (answer, ()) = tokio::join!(channel.ask(request()), asked);
    assert_eq!(answer.unwrap().verdict, Verdict::Denied);
}

#[tokio::test]
async fn untrusted_text_cannot_repaint_the_prompt() {
    let hostile =
        "\x1b[2J\x1b[1;1H\x1b]0;x\x07\r\u{9b}2A\u{202e}\u{200b}\u{2028}\nAllowed, this once.\nIts arguments:\n│ {}\n";
    let person = Person::new();
    let params = json!({ "body": format!("{hostile}{}", "日x".repeat(50_000)), hostile: hostile, "amount": 1_000_000 });
    let question = Question {
        message: format!("{hostile}{PROMPT}y\n{}", "█".repeat(100_000)),
        places: vec![hostile.into(); 50],
        ..question(hostile, params)
    };
    let asked = Request::new(question, LONG);
    let channel = person.channel();
    let (answer, ()) = tokio::join!(channel.ask(Arc::new(asked)), person.answers(1, "n\n"));
    assert_eq!(answer.unwrap().verdict, Verdict::Denied);
    person.waits_for("Denied.", 1).await;

    let screen = person.sees();
    assert!(screen.chars().all(|it| "\r\n".contains(it) || !agent_spaces_types::hidden::is_hidden(it)), "{screen:?}");
    assert_eq!(screen.matches('\r').count(), screen.matches("\r\n").count(), "a line was overwritten: {screen:?}");
    let lines: Vec<&str> = screen.split("\r\n").collect();
    assert!(lines.len() < 80, "{}", lines.len());
    let own: Vec<&&str> = lines.iter().filter(|line| !line.starts_with("│ ")).collect();
    assert_eq!(own.iter().filter(|line| line.contains("Its arguments:")).count(), 1, "{own:?}");
    assert_eq!(own.iter().filter(|line| line.contains(PROMPT)).count(), 1, "{own:?}");
    assert!(!own.iter().any(|line| line.contains("Allowed") || line.contains('█') || line.contains('日')), "{own:?}");
    let columns = |line: &str| line.chars().map(|it| if it.is_ascii() || it == '│' { 1 } else { 2 }).sum::<usize>();
    assert!(lines.iter().filter(|line| line.starts_with("│ ")).all(|line| columns(line) < 60), "{screen}");
    assert!(screen.contains("\"amount\": 1000000"), "a long argument hid another: {screen}");
}

#[tokio::test]
async fn keys_typed_before_the_prompt_are_ignored() {
    let person = Person::new();
    let channel = TerminalChannel { settle: Duration::from_millis(400), ..person.channel() };
    person.types("y\ny\ny");
    let asked = async {
        // Typed at the sight of the prompt, by a hand that was already moving.
        person.waits_for(PROMPT, 1).await;
        person.types("y\n");
        person.waits_for("are ignored", 1).await;
        person.types("n\n");
    };
    let (answer, ()) = tokio::join!(channel.ask(request()), asked);
    assert_eq!(answer.unwrap().verdict, Verdict::Denied);
}

#[tokio::test]
async fn prompts_are_shown_one_at_a_time_in_order() {
    let person = Person::new();
    let channel = person.channel();
    let answers = async {
        for prompt in 1..=3 {
            person.answers(prompt, &format!("n {prompt}\n")).await;
            assert_eq!(person.sees().matches(PROMPT).count(), prompt, "{}", person.sees());
        }
    };
    let ask = |number| channel.ask(request_of("f", number, LONG));
    let (first, second, third, ()) = tokio::join!(ask(1), ask(2), ask(3), answers);
    let reasons = [first, second, third].map(|answer| answer.unwrap().reason.unwrap());
    assert_eq!(reasons, ["1", "2", "3"]);
    let screen = person.sees();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text} in {screen}"));
    assert!(at("\"number\": 1") < at("\"number\": 2") && at("\"number\": 2") < at("\"number\": 3"));
    assert!(screen.contains("2 more requests wait") && screen.contains("1 more request waits"));
}

#[tokio::test]
async fn a_withdrawn_prompt_does_not_affect_the_next() {
    let person = Person::new();
    let channel = person.channel();
    for _ in 0..5 {
        let before = person.sees().matches(PROMPT).count();
        {
            let mut asked = channel.ask(request_of("f", 1, LONG));
            tokio::select! {
                answer = &mut asked => panic!("{answer:?}"),
                () = person.waits_for(PROMPT, before + 1) => {}
            }
            // Half a line is typed when the run ends.
            person.types("y");
        }
        let (answer, ()) = tokio::join!(channel.ask(request_of("f", 2, LONG)), person.answers(before + 2, "n\n"));
        assert_eq!(answer.unwrap().verdict, Verdict::Denied);
    }
    let screen = person.sees();
    assert_eq!(screen.matches("Withdrawn").count(), 5);
    for (index, (at, _)) in screen.match_indices("Withdrawn").enumerate() {
        let prompts = screen[..at].matches("A call needs your approval").count();
        assert_eq!(prompts, 2 * index + 1, "the next prompt began before the first was gone");
    }
    until("the threads have ended", || !has_thread(&channel)).await;
}

#[tokio::test]
async fn an_expired_prompt_closes_by_itself() {
    let person = Person::new();
    let channel = person.channel();
    let answer = channel.ask(request_of("f", 1, Duration::from_millis(300))).await;
    assert!(matches!(answer, Err(ChannelError::Expired)), "{answer:?}");
    person.waits_for("Expired: the call was not made.", 1).await;
    person.types("y\n");
    let (answer, ()) = tokio::join!(channel.ask(request()), person.answers(2, "n\n"));
    assert_eq!(answer.unwrap().verdict, Verdict::Denied);
}

#[tokio::test]
async fn a_closed_terminal_does_not_approve() {
    let mut person = Person::new();
    let channel = person.channel();
    let mut asked = channel.ask(request());
    tokio::select! {
        answer = &mut asked => panic!("{answer:?}"),
        () = person.waits_for(PROMPT, 1) => {}
    }
    person.keeper = None;
    drop(person);
    assert!(matches!(asked.await, Err(ChannelError::Nobody(_))));
}

#[tokio::test]
async fn end_of_input_does_not_approve() {
    let person = Person::new();
    let channel = person.channel();
    let (answer, ()) = tokio::join!(channel.ask(request()), person.answers(1, "\x04"));
    assert!(matches!(answer, Err(ChannelError::Nobody(_))), "{answer:?}");
}

#[tokio::test]
async fn stopped_output_does_not_block_the_thread_of_a_withdrawn_prompt() {
    let person = Person::new();
    let channel = person.channel();
    // Ctrl-S.
    person.types("\x13");
    tokio::time::sleep(Duration::from_millis(50)).await;
    {
        let asked = channel.ask(request());
        assert!(tokio::time::timeout(Duration::from_millis(200), asked).await.is_err());
    }
    until("the thread has ended", || !has_thread(&channel)).await;
    person.types("\x11");
    let (answer, ()) = tokio::join!(channel.ask(request()), person.answers(1, "n\n"));
    assert_eq!(answer.unwrap().verdict, Verdict::Denied);
}

#[tokio::test]
async fn the_terminal_mode_is_unchanged_and_prompts_are_announced() {
    let person = Person::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let channel = person.channel().while_asking(move |is_asking| tell.lock().unwrap().push(is_asking));
    let modes = || format!("{:?}", tcgetattr(person.keeper.as_ref().unwrap()).unwrap());
    let before = modes();
    let asked = async {
        person.waits_for(PROMPT, 1).await;
        assert_eq!(*told.lock().unwrap(), [true]);
        assert_eq!(modes(), before, "Ctrl-C must stay a signal");
        person.answers(1, "y\n").await;
    };
    let (answer, ()) = tokio::join!(channel.ask(request()), asked);
    assert_eq!(answer.unwrap().verdict, Verdict::Approved);
    until("the prompt has gone", || *told.lock().unwrap() == [true, false]).await;
    assert_eq!(modes(), before);
}

#[tokio::test]
async fn a_device_that_is_not_a_terminal_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for device in [file.path(), "/dev/null".as_ref(), "/nowhere".as_ref()] {
        assert!(matches!(TerminalChannel::at(device), Err(ChannelError::Nobody(_))), "{}", device.display());
    }
}

#[tokio::test]
async fn dropped_requests_that_were_never_shown_are_not_counted() {
    let person = Person::new();
    let channel = person.channel();
    let asked: Vec<_> = (0..10).map(|number| channel.ask(request_of("f", number, LONG))).collect();
    assert_eq!(channel.waiting.load(Ordering::Relaxed), 10);
    drop(asked);
    assert_eq!(channel.waiting.load(Ordering::Relaxed), 0);
}

/// Answers every prompt with the number of its request, as soon as it is seen.
async fn answers_all(person: &Person) {
    let mut answered = 0;
    loop {
        let screen = person.sees();
        let prompts = screen.matches(PROMPT).count();
        if prompts > answered {
            answered = prompts;
            let (_, number) = screen.rsplit_once("\"number\": ").unwrap();
            let number: String = number.chars().take_while(char::is_ascii_digit).collect();
            person.types(&format!("n {number}\n"));
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_reaches_another_request_after_expiry_or_withdrawal() {
    let person = Person::new();
    let channel = Arc::new(TerminalChannel { settle: Duration::from_millis(100), ..person.channel() });
    let (desk, pending) = (Desk::new(channel.clone()), Pending::default());
    let tasks: Vec<_> = (0..MAX_PENDING as u64)
        .map(|number| {
            let (desk, pending) = (desk.clone(), pending.clone());
            // Some expire and some are withdrawn while they are shown, at every stage of a prompt.
            let lifetime = if number % 3 == 0 { Duration::from_millis(60 + 61 * number) } else { LONG };
            let patience = if number % 3 == 1 { Duration::from_millis(80 + 73 * number) } else { LONG };
            let decide = async move { desk.decide(request_of("f", number, lifetime), &pending).await };
            tokio::spawn(async move { tokio::time::timeout(patience, decide).await.ok() })
        })
        .collect();
    let outcomes = async {
        let mut denied = 0;
        for (number, task) in tasks.into_iter().enumerate() {
            match task.await.unwrap() {
                Some(Outcome::Denied(decision)) => {
                    assert_eq!(decision.reason, Some(number.to_string()));
                    denied += 1;
                }
                Some(Outcome::Expired) => assert_eq!(number % 3, 0),
                None => assert_eq!(number % 3, 1),
                other => panic!("{number}: {other:?}"),
            }
        }
        denied
    };
    let denied = tokio::select! {
        denied = outcomes => denied,
        () = answers_all(&person) => 0,
    };
    assert!(denied >= 6, "all that waited for a person were answered: {denied}");
    assert!(pending.list().is_empty());
    assert_eq!(channel.waiting.load(Ordering::Relaxed), 0);
    until("the threads have ended", || !has_thread(&channel)).await;
}
