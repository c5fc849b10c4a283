//! Conversion of a failed provider run into the error that the calling script gets, for all sandboxed providers.

use agent_spaces_script::absent;
use agent_spaces_script::absent::Position;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::limits::Limit;
use agent_spaces_types::run_error::RunError;
use capability_gen::implementation::RESERVED_CODES;

/// Returns a provider's error code, or `call.failed` if it is empty or reserved for the host.
pub fn provider_code(code: String) -> String {
    let is_own = !code.is_empty() && !RESERVED_CODES.iter().any(|prefix| code.starts_with(prefix));
    if is_own { code } else { Code::CallFailed.into() }
}

/// Converts the failure of a run that answered a call. If the code used a global that does not exist here, the message
/// names the alternative.
pub(super) fn capability_error(error: RunError, position: Position) -> CapabilityError {
    // Reported by the host, not thrown by the provider's code.
    let is_host_message = error.code.starts_with("limit.")
        || (error.name.is_none() && [Code::ScriptPending, Code::ScriptResult].iter().any(|code| error.code == *code));
    let absent = absent::undefined_global(error.name.as_deref(), &error.message, position);
    let message = match (is_host_message, absent) {
        (true, _) => format!("Its handler failed: {}", reword_for_handler(&error.message)),
        (false, Some(instead)) => format!("{}. {instead}", error.message),
        (false, None) => error.message,
    };
    let code = if error.code == Limit::Time.code() { Code::CallTimeout.into() } else { provider_code(error.code) };
    let mut answer = CapabilityError::new(code, message);
    answer.retryable = error.retryable;
    answer.details = error.details;
    answer
}

/// Rewords a host message about "The script" for a handler.
fn reword_for_handler(message: &str) -> String {
    match message.strip_prefix("The script") {
        Some(rest) => match rest.strip_prefix("'s ") {
            Some(rest) => format!("its {rest}"),
            None => format!("it{rest}"),
        },
        None => message.to_owned(),
    }
}
