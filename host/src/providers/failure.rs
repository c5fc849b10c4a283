//! What scripts are told of a provider's failure: the same words for every kind that runs in a sandbox.

use crate::error_report::RunError;
use crate::handlers::CapabilityError;
use capability_gen::implementation::RESERVED_CODES;

/// The code of a provider's own error.
pub(super) fn code(code: String) -> String {
    let is_own = !code.is_empty() && !RESERVED_CODES.iter().any(|prefix| code.starts_with(prefix));
    if is_own { code } else { "call.failed".into() }
}

/// The failure of a run that answered a call.
pub(super) fn of_run(error: RunError) -> CapabilityError {
    let is_limit = error.code.starts_with("limit.");
    let message = if is_limit { format!("Its handler failed: {}", of_handler(&error.message)) } else { error.message };
    let mut answer = CapabilityError::new(code(error.code), message);
    answer.retryable = error.retryable;
    answer.details = error.details;
    answer
}

/// What is said of a script that reached a limit, said of a handler.
fn of_handler(message: &str) -> String {
    match message.strip_prefix("The script") {
        Some(rest) => match rest.strip_prefix("'s ") {
            Some(rest) => format!("its {rest}"),
            None => format!("it{rest}"),
        },
        None => message.to_owned(),
    }
}
