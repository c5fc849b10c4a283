//! Test cases.

use crate::processes::{CLINGING, GRACE, all_gone, all_there, block_on, endpoint, mark, marked, start};
use agent_spaces_mcp::StartError;
use agent_spaces_mcp::process::Child;
use agent_spaces_mcp::secrets::Secret;
use agent_spaces_mcp::transport::StdioTransport;
use agent_spaces_mcp::{ConnectError, Context, Endpoint, ServerSettings};
use rmcp::transport::Transport;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;

type Case = (&'static str, fn() -> Result<(), String>);

const CASES: &[Case] = &[
    ("kill_9_of_the_host_leaves_nothing", kill_9_of_the_host),
    ("closing_leaves_nothing", closing),
    ("dropping_leaves_nothing", dropping),
    ("a_server_that_ends_leaves_nothing", ending),
    ("the_end_of_its_input_ends_a_server_at_once", end_of_input),
    ("a_server_that_ignores_sigterm_is_gone_after_the_grace", ignoring),
    ("a_process_that_keeps_forking_is_killed", keeps_forking),
    ("the_pipes_close_with_the_server", pipes),
    ("our_environment_is_not_inherited", environment),
    ("a_program_that_cannot_be_started_is_an_error", not_startable),
];

pub(super) fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [command, mark] if command == "victim" => return victim(mark),
        [command, ..] if command == "--list" => return,
        _ => {}
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-')).cloned().unwrap_or_default();
    let mut failed = false;
    for (name, case) in CASES.iter().filter(|(name, _)| name.contains(&filter)) {
        let began = Instant::now();
        let result = case();
        let took = began.elapsed().as_millis();
        match result {
            Ok(()) => println!("test {name} ... ok ({took} ms)"),
            Err(why) => {
                failed = true;
                println!("test {name} ... FAILED: {why}");
            }
        }
    }
    std::process::exit(i32::from(failed));
}

fn within<T>(limit: Duration, what: &str, began: Instant, value: T) -> Result<T, String> {
    let took = began.elapsed();
    if took <= limit { Ok(value) } else { Err(format!("{what} took {took:?}, more than {limit:?}")) }
}

/// Host process that starts a server, reports it, and waits to be killed.
fn victim(mark: &str) {
    let run = block_on(async {
        let mut child = start(&format!("{CLINGING} cat >/dev/null; wait"), mark).await?;
        println!("ready");
        child.wait().await;
        Err::<(), String>("the server ended by itself".to_owned())
    });
    eprintln!("{run:?}");
    std::process::exit(1);
}

fn kill_9_of_the_host() -> Result<(), String> {
    let mark = mark("kill9");
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let host = Command::new(own).args(["victim", &mark]).stdout(Stdio::piped()).spawn();
    let mut host = host.map_err(|error| error.to_string())?;
    let mut line = String::new();
    BufReader::new(host.stdout.take().ok_or("no stdout")?).read_line(&mut line).map_err(|error| error.to_string())?;
    let there = all_there(&mark);
    host.kill().map_err(|error| error.to_string())?;
    host.wait().map_err(|error| error.to_string())?;
    all_gone(&mark, GRACE + Duration::from_secs(3))?;
    there
}

fn closing() -> Result<(), String> {
    let mark = mark("close");
    block_on(async {
        let mut child = start(&format!("{CLINGING} trap '' TERM; sleep 1000; sleep 1000"), &mark).await?;
        all_there(&mark)?;
        let began = Instant::now();
        child.close(GRACE).await;
        all_gone(&mark, Duration::ZERO)?;
        within(2 * GRACE + Duration::from_secs(4), "closing", began, ())
    })?
}

fn dropping() -> Result<(), String> {
    let mark = mark("drop");
    block_on(async {
        let child = start(&format!("{CLINGING} cat >/dev/null; wait"), &mark).await?;
        all_there(&mark)?;
        drop(child);
        all_gone(&mark, GRACE + Duration::from_secs(3))
    })?
}

fn ending() -> Result<(), String> {
    let mark = mark("end");
    block_on(async {
        let mut child = start(&format!("{CLINGING} sleep 0.3; exit 3"), &mark).await?;
        all_there(&mark)?;
        let status = child.wait().await;
        all_gone(&mark, Duration::ZERO)?;
        if status == "exit status 3" { Ok(()) } else { Err(format!("the status is {status}")) }
    })?
}

fn end_of_input() -> Result<(), String> {
    let mark = mark("eof");
    block_on(async {
        let mut child = start("echo ready; exec cat >/dev/null", &mark).await?;
        let began = Instant::now();
        child.close(GRACE).await;
        all_gone(&mark, Duration::ZERO)?;
        within(GRACE / 2, "closing", began, ())
    })?
}

fn ignoring() -> Result<(), String> {
    let mark = mark("ignore");
    block_on(async {
        let mut child = start("trap '' TERM; echo ready; while :; do sleep 0.1; done", &mark).await?;
        let began = Instant::now();
        child.close(GRACE).await;
        all_gone(&mark, Duration::ZERO)?;
        within(2 * GRACE + Duration::from_secs(4), "closing", began, ())?;
        let status = child.wait().await;
        if status.contains("signal 9") { Ok(()) } else { Err(format!("the status is {status}")) }
    })?
}

fn keeps_forking() -> Result<(), String> {
    let mark = mark("run");
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let script = folder.path().join("run.sh");
    let run = "trap '' TERM\necho >>\"$0.log\"\nsetsid sh \"$0\" &\nexit\n";
    std::fs::write(&script, run).map_err(|error| error.to_string())?;
    let log = script.with_extension("sh.log");
    let generations = || std::fs::metadata(&log).map_or(0, |log| log.len());
    block_on(async {
        let server = format!("sh '{}' >/dev/null 2>&1; echo ready; exec cat >/dev/null", script.display());
        let mut child = start(&server, &mark).await?;
        std::thread::sleep(Duration::from_millis(300));
        let (before, there) = (generations(), marked(&mark).len());
        child.close(GRACE).await;
        let after = generations();
        std::thread::sleep(Duration::from_millis(300));
        all_gone(&mark, Duration::ZERO)?;
        match generations() {
            _ if before < 10 => Err(format!("the case shows nothing: generation {before}, {there} processes")),
            now if now > after => Err(format!("it runs on: generation {after}, then {now}")),
            _ => Ok(()),
        }
    })?
}

fn pipes() -> Result<(), String> {
    let mark = mark("pipes");
    block_on(async {
        // The server closes its stdout and keeps running: only a supervisor that holds the pipe could keep it open.
        let mut child =
            Child::start(&endpoint("exec >&-; exec sleep 1000", &mark), GRACE).map_err(|error| error.to_string())?;
        let mut stdout = child.take_stdout().ok_or("no stdout")?;
        let end = tokio::time::timeout(Duration::from_secs(5), stdout.read_to_end(&mut Vec::new())).await;
        child.close(GRACE).await;
        all_gone(&mark, Duration::ZERO)?;
        end.map(|_| ()).map_err(|_| "the end of its output is not seen".to_owned())
    })?
}

fn environment() -> Result<(), String> {
    let mark = mark("environment");
    // Run this case again in a process with a canary in its environment.
    if std::env::var_os("SUPERVISOR_CANARY").is_none() {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut again = Command::new(own);
        again.arg("our_environment_is_not_inherited").env("SUPERVISOR_CANARY", "canary").env("LD_BIND_NOW", "canary");
        let output = again.output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        return if output.status.success() && text.contains("... ok") { Ok(()) } else { Err(text) };
    }
    block_on(async {
        let mut endpoint = endpoint("", &mark);
        (endpoint.program, endpoint.args) = ("env".to_owned(), Vec::new());
        endpoint.env.insert("EMPTY".to_owned(), Secret::new(""));
        let mut child = Child::start(&endpoint, GRACE).map_err(|error| error.to_string())?;
        let mut text = String::new();
        let mut stdout = child.take_stdout().ok_or("no stdout")?;
        stdout.read_to_string(&mut text).await.map_err(|error| error.to_string())?;
        child.close(GRACE).await;
        let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        let known = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "SUPERVISOR_TEST", "TERM", "USER"];
        let strange = names.iter().any(|name| !known.contains(name));
        if strange || text.contains("canary") || !names.contains(&"SUPERVISOR_TEST") {
            return Err(format!("its environment is {names:?}"));
        }
        Ok(())
    })?
}

fn not_startable() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = folder.path().join("broken");
    std::fs::write(&program, "#!/no/such/interpreter\n").map_err(|error| error.to_string())?;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).map_err(|error| error.to_string())?;
    block_on(async {
        let mut endpoint = endpoint("", "broken");
        endpoint.program = program.display().to_string();
        let settings = ServerSettings::new("broken", Endpoint::Stdio(endpoint.clone()));
        let opened = StdioTransport::open(&settings, &endpoint, &Context::default());
        let mut transport = opened.map_err(|error| error.to_string())?;
        if transport.receive().await.is_some() {
            return Err("it answered".to_owned());
        }
        match transport.diagnosis().ended() {
            Some(ConnectError::Start(StartError { message, .. })) if message.contains("No such file") => Ok(()),
            other => Err(format!("the error is {other:?}")),
        }
    })?
}
