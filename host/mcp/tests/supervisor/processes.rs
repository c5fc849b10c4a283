//! Servers that try to survive, and the processes left of them.

use agent_spaces_mcp::ProcessSpec;
use agent_spaces_mcp::process::Child;
use agent_spaces_mcp::secrets::Secret;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt};

/// Grace period of servers.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// Script that tries to survive: a child in the background, one in another session, one that ignores SIGTERM, and an
/// orphan in another session.
pub(super) const CLINGING: &str = r#"
    sleep 1000 &
    setsid sleep 1000 &
    sh -c 'trap "" TERM; while :; do sleep 1; done' &
    (setsid sh -c 'trap "" TERM HUP; sleep 1000 & sleep 1000' >/dev/null 2>&1 &)
    sleep 0.3
    echo ready
"#;

/// Returns a mark that only the processes of one case have in their environment.
pub(super) fn mark(case: &str) -> String {
    format!("{case}-{}", std::process::id())
}

pub(super) fn endpoint(script: &str, mark: &str) -> ProcessSpec {
    ProcessSpec {
        program: "sh".to_owned(),
        args: vec![Secret::new("-c"), Secret::new(script)],
        env: BTreeMap::from([("SUPERVISOR_TEST".to_owned(), Secret::new(mark))]),
        cwd: None,
        confine: None,
    }
}

/// Returns the processes with this mark, including the supervisor.
pub(super) fn marked(mark: &str) -> Vec<String> {
    let mark = format!("SUPERVISOR_TEST={mark}\0").into_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.windows(mark.len()).any(|window| window == mark) {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push(format!("{} {}", entry.file_name().display(), command.trim()));
        }
    }
    found
}

pub(super) fn all_gone(mark: &str, within: Duration) -> Result<(), String> {
    let deadline = Instant::now() + within;
    loop {
        let left = marked(mark);
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("left after {within:?}: {left:#?}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(super) fn all_there(mark: &str) -> Result<(), String> {
    let there = marked(mark);
    // The supervisor, the server, and at least five descendants.
    if there.len() >= 7 { Ok(()) } else { Err(format!("the case shows nothing, only these run: {there:#?}")) }
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    Ok(runtime.map_err(|error| error.to_string())?.block_on(future))
}

pub(super) async fn start(script: &str, mark: &str) -> Result<Child, String> {
    let mut child = Child::start(&endpoint(script, mark), GRACE).map_err(|error| error.to_string())?;
    let mut stdout = tokio::io::BufReader::new(child.take_stdout().ok_or("no stdout")?);
    let mut line = String::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stdout.read_line(&mut line)).await;
    if !matches!(read, Ok(Ok(_))) || line != "ready\n" {
        return Err(format!("it said {line:?}"));
    }
    // Keep the pipe open, or a server that writes gets SIGPIPE.
    tokio::spawn(async move { stdout.read_to_end(&mut Vec::new()).await });
    Ok(child)
}
