//! The one way out: what is written down, shown or returned passes here, and loses its secrets.
//!
//! - Events, and with them the audit log and who listens to a run: [`event`], called by `EventSink::emit` alone.
//! - What came of a run, its console and its error: [`report`], called where a run ends.
//! - What a call gave or why it gave nothing: [`answer`] and [`failure`], called by the pipeline.
//! - What a client of our MCP server is answered: [`tool_response`].
//!
//! The other direction is left alone: what a script sends to a provider arrives as it was sent, and so does what an
//! approval is bound to. Where no secret is known nothing is looked at.

use crate::error_report::{Cause, RunError};
use crate::events::EventKind;
use crate::handlers::{Answer, CapabilityError};
use crate::off_thread::{MAX_INLINE_BYTES, Turns};
use crate::run::ConsoleLine;
use agent_spaces_approvals::digest;
use agent_spaces_mcp::secrets::Redactor;
use capability_gen::json_memory;
use capability_gen::shown::Shown;
#[cfg(feature = "compiler")]
use rmcp::model::{CallToolResponse, ContentBlock};
use serde_json::Value;
use std::borrow::Cow;

/// The longest code of an error.
const MAX_CODE: usize = 64;

/// Takes secrets out of an event. The digest of parameters that had some stays that of what was sent.
pub(crate) fn event(redactor: &Redactor, kind: &mut EventKind) {
    if redactor.is_empty() {
        return;
    }
    match kind {
        EventKind::RunStarted { script, .. } => text(redactor, script),
        EventKind::Console { text: line, .. } => text(redactor, line),
        EventKind::CallScheduled { function_id, params, sent, .. } => {
            if redactor.is_in(params) {
                *sent = Some(digest(function_id, params));
                redactor.value(params);
            }
        }
        // Its parameters have none any more: they are what a person is shown.
        EventKind::ApprovalRequired { message, .. } => {
            if let Cow::Owned(masked) = redactor.text(message) {
                *message = Shown::line(&masked, usize::MAX);
            }
        }
        EventKind::ApprovalDecided { reason, by, .. } => {
            reason.iter_mut().chain(by).for_each(|said| text(redactor, said));
        }
        EventKind::CallProgress { message, .. } => message.iter_mut().for_each(|said| text(redactor, said)),
        EventKind::CallError { code: found, message, .. } | EventKind::CallRepeated { code: found, message, .. } => {
            *found = code(&redactor.text(found));
            text(redactor, message);
        }
        EventKind::RunFinished { error, .. } => error.iter_mut().for_each(|error| run_error(redactor, error)),
        EventKind::RunPaused { .. }
        | EventKind::RunResumed { .. }
        | EventKind::CallResult { .. }
        | EventKind::LimitReached { .. } => {}
    }
}

/// Takes secrets out of what came of a run; of a large value on another thread.
pub(crate) async fn report(
    redactor: &Redactor,
    outcome: Result<Value, RunError>,
    console: &mut [ConsoleLine],
    turns: &Turns,
) -> Result<Value, RunError> {
    if redactor.is_empty() {
        return outcome;
    }
    console.iter_mut().for_each(|line| text(redactor, &mut line.text));
    match outcome {
        Ok(value) => {
            let redacted = answer(redactor, Ok(value), turns).await;
            redacted.map_err(|error| RunError::new("host.engine", error.message))
        }
        Err(mut error) => {
            run_error(redactor, &mut error);
            Err(error)
        }
    }
}

/// Takes secrets out of why a run has no value.
pub(crate) fn run_error(redactor: &Redactor, error: &mut RunError) {
    let RunError { code, message, name, stack, location, function, causes, hint, details, retryable: _ } = error;
    let texts = [name, stack, function, hint].into_iter().flatten().chain([code, message]);
    texts.chain(location.as_mut().map(|location| &mut location.file)).for_each(|said| text(redactor, said));
    for Cause { message, location } in causes {
        text(redactor, message);
        location.iter_mut().for_each(|location| text(redactor, &mut location.file));
    }
    details.iter_mut().for_each(|details| redactor.value(details));
}

/// Takes secrets out of what a provider answered; of a large value on another thread.
pub(crate) async fn answer(redactor: &Redactor, answer: Answer, turns: &Turns) -> Answer {
    match answer {
        Ok(value) if redactor.is_empty() => Ok(value),
        Ok(mut value) if json_memory::size(&value, MAX_INLINE_BYTES) >= MAX_INLINE_BYTES => {
            let redactor = redactor.clone();
            let redacted = move |_: &_| {
                redactor.value(&mut value);
                value
            };
            turns.off_thread(redacted).await
        }
        Ok(mut value) => {
            redactor.value(&mut value);
            Ok(value)
        }
        Err(mut error) => {
            failure(redactor, &mut error);
            Err(error)
        }
    }
}

/// Takes secrets out of why a call gave nothing.
pub(crate) fn failure(redactor: &Redactor, error: &mut CapabilityError) {
    error.code = code(&redactor.text(&error.code));
    text(redactor, &mut error.message);
    error.details.iter_mut().for_each(|details| redactor.value(details));
}

/// Takes secrets out of what a client is answered. What a person is asked in a form has none already.
#[cfg(feature = "compiler")]
pub(crate) fn tool_response(redactor: &Redactor, response: &mut CallToolResponse) {
    let CallToolResponse::Complete(result) = response else { return };
    if redactor.is_empty() {
        return;
    }
    for block in &mut result.content {
        // What a server sent in other blocks was looked at as it came.
        if let ContentBlock::Text(block) = block {
            text(redactor, &mut block.text);
        }
    }
    result.structured_content.iter_mut().for_each(|value| redactor.value(value));
}

fn text(redactor: &Redactor, said: &mut String) {
    if let Cow::Owned(masked) = redactor.text(said) {
        *said = masked;
    }
}

/// A code that is one: a provider may have made it of anything, and it stands in events and logs as it is.
fn code(code: &str) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_code = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(is_part);
    if is_code { code.to_owned() } else { "call.failed".to_owned() }
}
