//! Prompts on the controlling terminal while the script comes through a pipe.
//!
//! This program is also the asking process: a controlling terminal needs a session of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]

use agent_spaces_approvals::{Desk, Outcome, Pending, Question, Request, TerminalChannel};
use agent_spaces_types::identity::FunctionId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROMPT: &str = "Your answer (y, r, a or n): ";
const PATIENCE: Duration = Duration::from_secs(30);

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("ask") => ask(),
        _ => {
            a_piped_script_leaves_the_terminal_to_the_person();
            an_interrupt_at_the_prompt_ends_the_process();
            without_a_terminal_nobody_can_be_asked();
        }
    }
}

/// The asking process: reads its script, asks, and prints the decision and the number of threads left.
fn ask() {
    let mut script = String::new();
    std::io::stdin().read_to_string(&mut script).unwrap();
    let channel = match TerminalChannel::open() {
        Ok(channel) => channel,
        Err(error) => return println!("{script}: {error}"),
    };
    let question = Question {
        run_id: "run_1".into(),
        call_id: 1,
        space: None,
        function_id: FunctionId::new("capabilities:crm/crm@1.0.0", "create-ticket"),
        module: "@capabilities/crm".into(),
        source: "the host".into(),
        capability: "crm".into(),
        function: "createTicket".into(),
        params: serde_json::json!({}),
        shown: None,
        message: String::new(),
        places: vec![],
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = Arc::new(Request::new(question, PATIENCE));
    let outcome = runtime.block_on(Desk::new(Arc::new(channel)).decide(request, &Pending::default()));
    let word = match outcome {
        Outcome::Approved(decision) => format!("approved by {}", decision.by),
        other => format!("{other:?}"),
    };
    let start = Instant::now();
    while prompt_threads() > 0 && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("{script}: {word}; {} threads", prompt_threads());
}

fn prompt_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "approval\n"))
        .count()
}

fn a_piped_script_leaves_the_terminal_to_the_person() {
    let mut person = Person::new();
    let asker = person.starts_asker();
    person.waits_for(PROMPT);
    assert!(person.seen.contains("│ crm.createTicket"), "{}", person.seen);
    // Longer than a prompt must stand before keys count.
    std::thread::sleep(Duration::from_secs(1));
    (&person.master).write_all(b"y\n").unwrap();
    let (status, output) = ends(asker);
    assert!(status.success(), "{status}");
    assert_eq!(output, "script: approved by terminal; 0 threads\n");
}

fn an_interrupt_at_the_prompt_ends_the_process() {
    let mut person = Person::new();
    let asker = person.starts_asker();
    person.waits_for(PROMPT);
    // Ctrl-C.
    (&person.master).write_all(b"\x03").unwrap();
    let (status, output) = ends(asker);
    assert_eq!((status.signal(), output.as_str()), (Some(2), ""));
}

fn without_a_terminal_nobody_can_be_asked() {
    let program = std::env::current_exe().unwrap();
    let child = Command::new("setsid").arg(program).arg("ask").stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let (status, output) = ends(child.unwrap());
    assert!(status.success() && output.contains("cannot ask on the terminal /dev/tty"), "{output}");
}

/// The person's side of a terminal.
struct Person {
    master: File,
    seen: String,
}

impl Person {
    fn new() -> Person {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        Person { master: File::from(master), seen: String::new() }
    }

    /// A process that belongs to this terminal, with a script in its input.
    fn starts_asker(&self) -> Child {
        let device = ptsname(&self.master, Vec::new()).unwrap().into_string().unwrap();
        // The first terminal that the leader of a session opens becomes that session's own.
        let script = r#"exec 3<>"$1"; printf script | exec "$2" ask 3>&-"#;
        let shell = Command::new("setsid")
            .args(["sh", "-c", script, "sh"])
            .args([Path::new(&device), &std::env::current_exe().unwrap()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        shell.expect("setsid and sh are on every Linux")
    }

    fn waits_for(&mut self, text: &str) {
        let start = Instant::now();
        while !self.seen.contains(text) {
            assert!(start.elapsed() < PATIENCE, "{text} was never shown, but: {}", self.seen);
            let short = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            if poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&short)).unwrap() > 0 {
                let mut bytes = [0; 4096];
                // An error says that nobody has the terminal open yet.
                let count = self.master.read(&mut bytes).unwrap_or(0);
                self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        }
    }
}

fn ends(mut child: Child) -> (ExitStatus, String) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the process does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    (child.wait().unwrap(), output)
}
