//! What scripts are told of a provider's failure: the same words for every kind that runs in a sandbox.

use crate::absent::{self, Position};
use crate::error_report::RunError;
use crate::handlers::CapabilityError;
use crate::limits::Limit;
use capability_gen::implementation::RESERVED_CODES;

/// The code of a provider's own error.
pub(crate) fn code(code: String) -> String {
    let is_own = !code.is_empty() && !RESERVED_CODES.iter().any(|prefix| code.starts_with(prefix));
    if is_own { code } else { "call.failed".into() }
}

/// The failure of a run that answered a call. Who uses what is not there is told what to use instead.
pub(super) fn of_run(error: RunError, position: Position) -> CapabilityError {
    // Not thrown by its code, but said by the host of what ran.
    let is_of_host =
        error.code.starts_with("limit.") || (error.name.is_none() && error.message.starts_with("The script"));
    let absent = absent::undefined_global(error.name.as_deref(), &error.message, position);
    let message = match (is_of_host, absent) {
        (true, _) => format!("Its handler failed: {}", of_handler(&error.message)),
        (false, Some(instead)) => format!("{}. {instead}", error.message),
        (false, None) => error.message,
    };
    let code = if error.code == Limit::Time.code() { "call.timeout".to_owned() } else { code(error.code) };
    let mut answer = CapabilityError::new(code, message);
    answer.retryable = error.retryable;
    answer.details = error.details;
    answer
}

/// What the host says of a script, said of a handler.
fn of_handler(message: &str) -> String {
    match message.strip_prefix("The script") {
        Some(rest) => match rest.strip_prefix("'s ") {
            Some(rest) => format!("its {rest}"),
            None => format!("it{rest}"),
        },
        None => message.to_owned(),
    }
}
