//! Takes out what must not reach a script, whoever said it.

use crate::handlers::Answer;
use crate::off_thread::{MAX_INLINE_BYTES, Turns};
use agent_spaces_mcp::secrets::Redactor;
use capability_gen::json_memory;
use serde_json::Value;

/// The longest code of an error.
const MAX_CODE: usize = 64;

pub(super) async fn answer(redactor: &Redactor, answer: Answer, turns: &Turns) -> Answer {
    match answer {
        Ok(value) if json_memory::size(&value, MAX_INLINE_BYTES) >= MAX_INLINE_BYTES => {
            let redactor = redactor.clone();
            turns.off_thread(move |_| redacted(&redactor, value)).await
        }
        Ok(value) => Ok(redacted(redactor, value)),
        Err(mut error) => {
            error.code = code(&redactor.text(&error.code));
            error.message = redactor.text(&error.message).into_owned();
            error.details = error.details.map(|details| redacted(redactor, details));
            Err(error)
        }
    }
}

fn redacted(redactor: &Redactor, mut value: Value) -> Value {
    redactor.value(&mut value);
    value
}

/// A code that is one: a provider may have made it of anything, and it stands in events and logs as it is.
fn code(code: &str) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_code = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(is_part);
    if is_code { code.to_owned() } else { "call.failed".to_owned() }
}
