//! Redaction of secrets in everything that is recorded, shown or returned.
//!
//! - Events, and with them the audit log and event listeners: [`event`], called by `EventSink::emit` only.
//! - The value, console and error of a run: [`report`], called when a run ends.
//! - The answer or error of a call: [`answer`] and [`failure`], called by the pipeline.
//!
//! The other direction is not redacted: arguments reach the provider as the script sent them, and approvals are bound
//! to them. Without known secrets nothing is searched.

use crate::blocking_pool::{BlockingPool, MAX_INLINE_BYTES};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::canonical::digest;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::event::{ConsoleLine, EventKind, EventText};
use agent_spaces_types::json_memory;
use agent_spaces_types::run_error::{Cause, RunError};
use agent_spaces_types::shown::Shown;
use serde_json::Value;
use std::borrow::Cow;

/// Maximum length of an error code.
const MAX_CODE: usize = 64;

/// Redacts an event. The digest of redacted parameters stays that of the ones that were sent.
pub fn event(redactor: &Redactor, kind: &mut EventKind) {
    if redactor.is_empty() {
        return;
    }
    for part in kind.texts() {
        match part {
            EventText::Text(said) => text(redactor, said),
            EventText::Shown(message) => {
                if let Cow::Owned(masked) = redactor.text(message) {
                    *message = Shown::line(&masked, usize::MAX);
                }
            }
            EventText::Code(found) => *found = code(&redactor.text(found)),
            EventText::Params { function_id, params, sent } => {
                if redactor.is_in(params) {
                    *sent = Some(digest(function_id, params));
                    redactor.value(params);
                }
            }
            EventText::Error(error) => run_error(redactor, error),
        }
    }
}

/// Redacts the value or error and the console of a run; large values on a blocking thread.
pub async fn report(
    redactor: &Redactor,
    outcome: Result<Value, RunError>,
    console: &mut [ConsoleLine],
    blocking_pool: &BlockingPool,
) -> Result<Value, RunError> {
    if redactor.is_empty() {
        return outcome;
    }
    console.iter_mut().for_each(|line| text(redactor, &mut line.text));
    match outcome {
        Ok(value) => {
            let redacted = answer(redactor, Ok(value), blocking_pool).await;
            redacted.map_err(|error| RunError::new(Code::HostEngine, error.message))
        }
        Err(mut error) => {
            run_error(redactor, &mut error);
            Err(error)
        }
    }
}

/// Redacts the error of a run.
pub fn run_error(redactor: &Redactor, error: &mut RunError) {
    let RunError { code, message, name, stack, location, function, causes, hint, details, retryable: _ } = error;
    let texts = [name, stack, function, hint].into_iter().flatten().chain([code, message]);
    texts.chain(location.as_mut().map(|location| &mut location.file)).for_each(|said| text(redactor, said));
    for Cause { message, location } in causes {
        text(redactor, message);
        location.iter_mut().for_each(|location| text(redactor, &mut location.file));
    }
    details.iter_mut().for_each(|details| redactor.value(details));
}

/// Redacts a provider's answer; large values on a blocking thread.
pub async fn answer(redactor: &Redactor, answer: Answer, blocking_pool: &BlockingPool) -> Answer {
    match answer {
        Ok(value) if redactor.is_empty() => Ok(value),
        Ok(mut value) if json_memory::size(&value, MAX_INLINE_BYTES) >= MAX_INLINE_BYTES => {
            let redactor = redactor.clone();
            let redacted = move |_: &_| {
                redactor.value(&mut value);
                value
            };
            blocking_pool.run(redacted).await
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

/// Redacts the error of a call.
pub fn failure(redactor: &Redactor, error: &mut CapabilityError) {
    error.code = code(&redactor.text(&error.code));
    text(redactor, &mut error.message);
    error.details.iter_mut().for_each(|details| redactor.value(details));
}

/// Redacts a text.
pub fn text(redactor: &Redactor, said: &mut String) {
    if let Cow::Owned(masked) = redactor.text(said) {
        *said = masked;
    }
}

/// Validates an error code: a provider may send any text, and events and logs show codes unescaped.
pub(crate) fn code(code: &str) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_code = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(is_part);
    if is_code { code.to_owned() } else { Code::CallFailed.into() }
}
