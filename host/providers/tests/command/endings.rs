//! Programs that fail, hang, flood output, fork, and ignore signals.

use crate::cases;
use crate::rig::{Case, Rig, own, template};
use agent_spaces_providers::command::CommandError;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::pin::Pin;
use std::process::Stdio;
use std::task::Poll;
use std::time::{Duration, Instant};

pub(crate) const CASES: [Case; 16] = cases![
    a_failure_has_its_status_and_last_lines,
    exit_statuses_follow_the_definition,
    a_signal_is_a_failure,
    start_failures_are_reported,
    a_slow_program_times_out,
    descendants_are_killed_at_the_deadline,
    a_program_that_ignores_sigterm_is_killed,
    a_dropped_call_terminates_its_program,
    background_processes_do_not_delay_the_call,
    excessive_output_is_an_error,
    excessive_stderr_is_truncated,
    unread_input_does_not_block,
    every_exit_status_is_reported,
    a_terminated_program_gets_a_grace_period,
    concurrency_is_limited,
    secrets_are_redacted_before_stderr_is_truncated,
];

pub(crate) const SUPERVISED: [Case; 2] =
    cases![processes_outside_the_group_are_killed_too, no_process_outlives_the_host];

/// Asserts that a command with this timeout times out soon.
async fn timed_out(rig: &Rig, time: &str, params: Value) {
    let begun = Instant::now();
    let command = json!({ "program": "./run.sh", "timeout": time, "stdin": "params", "output": "text" });
    let outcome = rig.call(command, params).await;
    assert!(matches!(outcome, Err(CommandError::Timeout { .. })), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

async fn a_failure_has_its_status_and_last_lines() {
    let rig = Rig::with("echo '{}'; printf 'one\\ntwo\\033[31m\\n' >&2; exit 3");
    let Err(CommandError::Failed { message, exit_code, stderr, is_retryable }) = rig.run(json!({})).await else {
        panic!()
    };
    assert_eq!((exit_code, stderr.as_str(), is_retryable), (3, "one\ntwo<U+001B>[31m", false));
    assert_eq!(message, "the program ended with status 3");
}

async fn exit_statuses_follow_the_definition() {
    let meanings = json!({
        "1": { "isAnswer": true }, "2": { "message": "try again", "retryable": true }, "125": { "message": "its own" }
    });
    let run =
        async |status: u8| Rig::with(&format!("echo '[]'; exit {status}")).run(json!({ "exitCodes": meanings })).await;
    assert_eq!(run(1).await, Ok(json!([])));
    let said = |outcome| match outcome {
        Err(CommandError::Failed { message, is_retryable, .. }) => (message, is_retryable),
        other => panic!("{other:?}"),
    };
    assert_eq!(said(run(2).await), ("try again".to_owned(), true));
    assert_eq!(said(run(125).await), ("its own".to_owned(), false));
    assert_eq!(said(run(4).await), ("the program ended with status 4".to_owned(), false));
}

async fn a_signal_is_a_failure() {
    let outcome = Rig::with("kill -9 $$").run(json!({})).await;
    let Err(CommandError::Failed { exit_code, message, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((exit_code, message.as_str()), (137, "the program ended with status 137, as after signal 9"));
}

async fn start_failures_are_reported() {
    let rig = Rig::with("true");
    std::fs::write(rig.path("data"), "x").unwrap();
    for program in ["no-such-program-anywhere", "./nothing", "./data", "./"] {
        let outcome = rig.call(json!({ "program": program }), json!({})).await;
        assert!(matches!(outcome, Err(CommandError::Start(_))), "{program}: {outcome:?}");
    }
    std::fs::write(rig.path("run.sh"), "#!/no/such/interpreter\n").unwrap();
    let outcome = rig.run(json!({})).await;
    assert!(matches!(outcome, Err(CommandError::Start(_))), "{outcome:?}");
}

async fn a_slow_program_times_out() {
    timed_out(&Rig::with("exec sleep 1000"), "200ms", json!({})).await;
    // Endless output does not extend the timeout.
    timed_out(&Rig::with("while echo more; do sleep 0.05; done"), "300ms", json!({})).await;
}

async fn descendants_are_killed_at_the_deadline() {
    // A tree of processes, each with two below it.
    let rig = Rig::with(
        "grow() { sh -c 'echo $$ >>pids; exec sleep 1000' & [ $1 -gt 0 ] && { (grow $(($1-1))) & (grow $(($1-1))) & }; wait; }\n\
         grow 4",
    );
    timed_out(&rig, "1500ms", json!({})).await;
    rig.assert_all_gone(31);
}

async fn a_program_that_ignores_sigterm_is_killed() {
    let rig = Rig::with(
        "trap '' TERM INT HUP; echo $$ >>pids; (trap '' TERM; echo begun >/dev/null; sleep 1000) & while true; do sleep 1000; done",
    );
    timed_out(&rig, "300ms", json!({})).await;
    rig.assert_all_gone(1);
}

async fn a_dropped_call_terminates_its_program() {
    let rig = Rig::with("echo $$ >>pids; sleep 1000 & echo $! >>pids; wait");
    let command = rig.command(json!({ "program": "./run.sh" }));
    let params = json!({});
    tokio::select! {
        outcome = command.call(&params) => panic!("{outcome:?}"),
        () = rig.begun(2) => {}
    }
    rig.assert_all_gone(2);
}

async fn background_processes_do_not_delay_the_call() {
    let rig = Rig::with("sleep 1000 & echo $! >>pids; echo '\"done\"'");
    let begun = Instant::now();
    assert_eq!(rig.run(json!({})).await, Ok(json!("done")));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    rig.assert_all_gone(1);
}

async fn excessive_output_is_an_error() {
    let rig = Rig::with("echo $$ >>pids; exec yes");
    let outcome = rig.run(json!({ "output": "text" })).await;
    assert!(
        matches!(&outcome, Err(CommandError::Output { message, .. }) if message.contains("more than")),
        "{outcome:?}"
    );
    rig.assert_all_gone(1);
}

async fn excessive_stderr_is_truncated() {
    let rig = Rig::with("head -c 50000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last >&2; exit 1");
    let outcome = rig.run(json!({})).await;
    let Err(CommandError::Failed { stderr, .. }) = outcome else { panic!("{outcome:?}") };
    assert!(stderr.len() <= 4096 && stderr.ends_with("\nlast"), "{} bytes", stderr.len());
}

async fn unread_input_does_not_block() {
    let large = json!({ "a": "x".repeat(5_000_000) });
    timed_out(&Rig::with("exec sleep 1000"), "300ms", large.clone()).await;
    let rig = Rig::with("exec <&-; echo '\"not read\"'");
    assert_eq!(rig.call(json!({ "program": "./run.sh", "stdin": "params" }), large).await, Ok(json!("not read")));
    let too_large = json!({ "a": "x".repeat(11_000_000) });
    let outcome = rig.call(json!({ "program": "./run.sh", "stdin": "params" }), too_large).await;
    assert!(matches!(outcome, Err(CommandError::Invalid(_))), "{outcome:?}");
}

async fn every_exit_status_is_reported() {
    for status in [1, 125, 126, 127, 154, 255] {
        let outcome = Rig::with(&format!("echo mine >&2; exit {status}")).run(json!({})).await;
        let Err(CommandError::Failed { exit_code, stderr, .. }) = outcome else { panic!("{status}: {outcome:?}") };
        assert_eq!((exit_code, stderr.as_str()), (status, "mine"));
    }
}

async fn a_terminated_program_gets_a_grace_period() {
    let rig = Rig::with("trap 'sleep 0.1; echo bye >bye; exit' TERM; sleep 1000 & wait");
    timed_out(&rig, "300ms", json!({})).await;
    assert_eq!(std::fs::read_to_string(rig.path("bye")).unwrap_or_default(), "bye\n");
}

async fn concurrency_is_limited() {
    let rig = Rig::with("echo $$ >>pids; exec sleep 1000");
    let (commands, params) = (rig.commands(), json!({}));
    let command = |time: &str| commands.command(template(json!({ "program": "./run.sh", "timeout": time })));
    let (long, short) = (command("3s"), command("500ms"));
    let calls: Vec<_> = (0..17).map(|call| Box::pin(if call < 16 { &long } else { &short }.call(&params))).collect();
    let outcomes = all(calls).await;
    let busy = outcomes.iter().filter(|outcome| matches!(outcome, Err(CommandError::Busy { .. }))).count();
    let ended = outcomes.iter().filter(|outcome| matches!(outcome, Err(CommandError::Timeout { .. }))).count();
    assert_eq!((busy, ended), (1, 16), "{outcomes:?}");
    rig.assert_all_gone(16);
}

/// Waits for all of them at once.
async fn all<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let mut outcomes = Vec::new();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| match Pin::new(future).poll(context) {
            Poll::Ready(outcome) => {
                outcomes.push(outcome);
                false
            }
            Poll::Pending => true,
        });
        if futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outcomes
}

/// The first is truncated for display, the second when captured.
async fn secrets_are_redacted_before_stderr_is_truncated() {
    for after in [4090, 4090 + 6 * (16 << 10)] {
        let script = format!("printf '%s' \"$TOKEN\" >&2; head -c {after} /dev/zero | tr '\\0' x >&2; exit 1");
        let outcome = Rig::with(&script).run(json!({ "env": ["TOKEN"] })).await;
        let Err(CommandError::Failed { stderr, .. }) = outcome else { panic!("{outcome:?}") };
        let shown = stderr.trim_start_matches("[redacted]").trim_start_matches('x');
        assert!(stderr.len() > 4000 && shown.is_empty(), "{shown}");
    }
}

async fn processes_outside_the_group_are_killed_too() {
    let rig = Rig::with("setsid sh -c 'echo $$ >>pids; exec sleep 1000' & while true; do sleep 1000; done");
    timed_out(&rig, "500ms", json!({})).await;
    rig.assert_all_gone(1);
}

/// A host that is killed while its program runs.
pub(crate) fn victim() {
    let rig = Rig::with("echo $$; echo $$ >>pids; trap '' TERM; sleep 1000 & echo $! >>pids; wait; sleep 1000");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime
        .block_on(async {
            let command = rig.command(json!({ "program": "./run.sh" }));
            let tell = async {
                rig.begun(2).await;
                println!("{}", rig.processes().iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
                std::future::pending::<()>().await;
            };
            let params = json!({});
            tokio::join!(command.call(&params), tell)
        })
        .0
        .unwrap();
}

async fn no_process_outlives_the_host() {
    let mut host = own(&["victim"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    let rig = Rig::new();
    std::fs::write(rig.path("pids"), &line).unwrap();
    rig.assert_all_gone(2);
}
