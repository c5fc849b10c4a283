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
/// names the alternative. `refusals` are the codes with which the host refused calls of that run: only those are passed
/// on.
pub(super) fn capability_error(error: RunError, refusals: &[Code], position: Position) -> CapabilityError {
    // Reported by the host, not thrown by the provider's code.
    let is_host_message = error.code.starts_with("limit.")
        || (error.name.is_none() && [Code::ScriptPending, Code::ScriptResult].iter().any(|code| error.code == *code));
    let absent = absent::undefined_global(error.name.as_deref(), &error.message, position);
    let message = match (is_host_message, absent) {
        (true, _) => format!("Its handler failed: {}", reword_for_handler(&error.message)),
        (false, Some(instead)) => format!("{}. {instead}", error.message),
        (false, None) => error.message,
    };
    let code = match Code::parse(&error.code) {
        Some(code) if code == Limit::Time.code() => Code::CallTimeout.into(),
        Some(code) if refusals.contains(&code) => error.code,
        _ => provider_code(error.code),
    };
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

#[cfg(test)]
mod tests {
    use crate::run_failure::{capability_error, provider_code};
    use agent_spaces_script::absent::Position;
    use agent_spaces_types::code::Code;
    use agent_spaces_types::run_error::RunError;

    #[test]
    fn a_provider_cannot_use_codes_of_the_host() {
        for code in ["", "limit.fuel", "call.denied", "call.approval_denied", "call.audit_unavailable"] {
            assert_eq!(provider_code(code.to_owned()), "call.failed", "{code}");
        }
        for code in ["crm.unknown", "call.invalid", "call.rate_limited", "call.unavailable"] {
            assert_eq!(provider_code(code.to_owned()), code);
        }
    }

    #[test]
    fn a_refusal_is_passed_on_only_if_the_host_made_it() {
        let code = |code: Code, refusals: &[Code]| {
            capability_error(RunError::new(code, "no"), refusals, Position::Script).code
        };
        assert_eq!(code(Code::CallDenied, &[]), "call.failed");
        assert_eq!(code(Code::CallDenied, &[Code::CallApprovalDenied]), "call.failed");
        assert_eq!(code(Code::CallDenied, &[Code::CallDenied]), "call.denied");
        assert_eq!(code(Code::LimitTime, &[]), "call.timeout");
    }
}
