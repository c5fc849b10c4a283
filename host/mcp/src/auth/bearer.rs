//! Bearer tokens: from the configuration, a file or a program.

use crate::advice::origin;
use crate::{BearerSource, ConnectError, Context, ProcessSpec};
use agent_spaces_process::environment::BASE;
use agent_spaces_secrets::{MIN_SECRET, Redactor, Secret};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// Size limit of a token file or command output.
const MAX_OUTPUT: usize = 64 << 10;
/// Timeout of a token command.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the token and adds it to the redactor.
pub async fn bearer(source: &BearerSource, context: &Context) -> Result<Secret, ConnectError> {
    let text = match source {
        BearerSource::Token(token) => Ok(token.expose().to_owned()),
        BearerSource::File(path) => read(path),
        BearerSource::Command(line) => run(line, TIMEOUT, context).await,
    };
    let checked = text.and_then(|text| check(text.trim()).map(Secret::new));
    let token =
        checked.map_err(|why| ConnectError::Failed(format!("no bearer token from {}: {why}", origin(source))))?;
    context.redactor.add(&token);
    Ok(token)
}

/// Adds the token of a file to the redactor before it is used. Errors are reported only when the token is used.
pub fn learn_file(path: &Path, redactor: &Redactor) {
    let text = read(path).unwrap_or_default();
    if let Ok(token) = check(text.trim()) {
        redactor.add(&Secret::new(token));
    }
}

/// Validates a token. The error never quotes it.
fn check(token: &str) -> Result<&str, String> {
    if token.is_empty() {
        return Err("it is empty".to_owned());
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it contains spaces, line breaks or non-ASCII characters \
                    (`Bearer` is put before it for you)"
            .to_owned());
    }
    if token.len() < MIN_SECRET {
        return Err(format!("it is shorter than {MIN_SECRET} characters, so it could not be redacted"));
    }
    Ok(token)
}

fn read(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| error.to_string();
    // Opening a named pipe would block until there is a writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode() & 0o777;
    if mode & 0o007 != 0 {
        return Err(format!("it is readable by all users (mode {mode:03o}): run `chmod 600 '{}'`", path.display()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    text_of(bytes)
}

async fn run(endpoint: &ProcessSpec, limit: Duration, context: &Context) -> Result<String, String> {
    let environment = BASE.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = Command::new(&endpoint.program);
    if let Some(folder) = &endpoint.cwd {
        command.current_dir(folder);
    }
    let mut child = command
        .args(endpoint.args.iter().map(Secret::expose))
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    let _group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let work = async { tokio::join!(child.wait(), drain(stdout), drain(stderr)) };
    let Ok((status, output, errors)) = tokio::time::timeout(limit, work).await else {
        return Err(format!("it timed out after {}", humantime::format_duration(limit)));
    };
    let status = status.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(failure(status, &errors, context));
    }
    text_of(output)
}

fn failure(status: ExitStatus, errors: &[u8], context: &Context) -> String {
    let errors = String::from_utf8_lossy(errors);
    match errors.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => {
            format!(
                "it failed ({status}); last stderr output: {}",
                crate::trace::one_line(&context.redactor.text(last))
            )
        }
        None => format!("it failed ({status})"),
    }
}

/// Reads to the end, but keeps at most one byte more than the limit.
async fn drain(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // After a read error, the bytes read so far are checked as usual.
        let _ = (&mut pipe).take(MAX_OUTPUT as u64 + 1).read_to_end(&mut bytes).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
    bytes
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > MAX_OUTPUT {
        return Err(format!("it is larger than {MAX_OUTPUT} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())
}

/// Process group of the program, killed on drop.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Leave no descendants.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
#[path = "bearer_tests.rs"]
mod tests;
