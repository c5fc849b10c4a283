//! Takes out what must not reach a script, whoever said it.

use crate::handlers::Answer;
use agent_spaces_mcp::secrets::Redactor;

/// The longest code of an error.
const MAX_CODE: usize = 64;

pub(super) fn answer(redactor: &Redactor, answer: &mut Answer) {
    match answer {
        Ok(value) => redactor.value(value),
        Err(error) => {
            error.code = code(&redactor.text(&error.code));
            error.message = redactor.text(&error.message).into_owned();
            if let Some(details) = &mut error.details {
                redactor.value(details);
            }
        }
    }
}

/// A code that is one: a provider may have made it of anything, and it stands in events and logs as it is.
fn code(code: &str) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_code = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(is_part);
    if is_code { code.to_owned() } else { "call.failed".to_owned() }
}
