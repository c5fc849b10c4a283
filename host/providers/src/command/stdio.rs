//! Standard input, output and error of a program.

use super::error::CommandError;
use agent_spaces_process::Child;
use agent_spaces_secrets::MAX_SECRET;
use capability_gen::implementation::CommandInput;
use capability_gen::template::fill_json;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;

/// Size limits of input and output, as for messages of an MCP server.
const MAX_INPUT: usize = 10 * 1024 * 1024;
const MAX_OUTPUT: usize = 10 * 1024 * 1024;

/// Only the end of stderr is kept: what may be shown, plus the length of the longest encoded secret before it, because
/// a partial secret is not redacted.
const KEPT_ERRORS: usize = super::answer::MAX_ERRORS + 6 * MAX_SECRET;

const CHUNK: usize = 64 * 1024;

/// Captured output.
pub(super) struct Captured {
    pub(super) stdout: Vec<u8>,
    /// End of stderr, unredacted and longer than what may be shown.
    pub(super) stderr: Vec<u8>,
}

/// Builds the standard input.
pub(super) fn input(input: Option<&CommandInput>, params: &Value) -> Result<Vec<u8>, CommandError> {
    let too_long = |error| CommandError::Invalid(format!("the standard input: {error}"));
    let text = match input {
        None => return Ok(Vec::new()),
        Some(CommandInput::Params) => format!("{params}\n"),
        Some(CommandInput::Json(template)) => {
            format!("{}\n", fill_json(template, params, MAX_INPUT).map_err(too_long)?.unwrap_or_default())
        }
        Some(CommandInput::Text(template)) => template.fill(params, MAX_INPUT).map_err(too_long)?.unwrap_or_default(),
    };
    match text.len() > MAX_INPUT {
        true => Err(CommandError::Invalid(format!("the program's input would exceed {MAX_INPUT} bytes: pass less"))),
        false => Ok(text.into_bytes()),
    }
}

/// Writes input and reads output concurrently, to avoid deadlocks. Returns when the program has ended.
pub(super) async fn exchange(child: &mut Child, input: Vec<u8>) -> Result<Captured, CommandError> {
    let (stdin, stdout, stderr) = (child.take_stdin(), child.take_stdout(), child.take_stderr());
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(CommandError::Broken("it has no input or output".to_owned()));
    };
    let waiting = async {
        child.wait().await;
        Ok(())
    };
    let ((), stdout, stderr, ()) = tokio::try_join!(write(stdin, input), all(stdout), tail(stderr), waiting)?;
    Ok(Captured { stdout, stderr })
}

/// Writes all and closes. A program need not read its input.
async fn write(mut stdin: ChildStdin, input: Vec<u8>) -> Result<(), CommandError> {
    let _ = stdin.write_all(&input).await;
    Ok(())
}

async fn all(mut from: impl AsyncRead + Unpin) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    while read(&mut from, &mut bytes).await? > 0 {
        if bytes.len() > MAX_OUTPUT {
            let message = format!("it wrote more than {MAX_OUTPUT} bytes and was terminated");
            return Err(CommandError::Output { message, stderr: String::new() });
        }
    }
    Ok(bytes)
}

async fn tail(mut from: impl AsyncRead + Unpin) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    while read(&mut from, &mut bytes).await? > 0 {
        bytes.drain(..bytes.len().saturating_sub(KEPT_ERRORS));
    }
    Ok(bytes)
}

async fn read(from: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> Result<usize, CommandError> {
    bytes.reserve(CHUNK);
    let read = from.take(CHUNK as u64).read_buf(bytes).await;
    read.map_err(|error| CommandError::Broken(error.to_string()))
}
