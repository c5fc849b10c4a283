//! Takes out what must not reach a script, whoever said it.

use crate::handlers::Answer;
use agent_spaces_mcp::secrets::Redactor;

pub(super) fn answer(redactor: &Redactor, answer: &mut Answer) {
    match answer {
        Ok(value) => redactor.value(value),
        Err(error) => {
            error.message = redactor.text(&error.message).into_owned();
            if let Some(details) = &mut error.details {
                redactor.value(details);
            }
        }
    }
}
