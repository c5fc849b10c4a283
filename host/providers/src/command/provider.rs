//! Provider of command functions. Programs start only after the user has accepted the definition file.

use super::{Command, CommandError, Commands};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::operator_notices::Notices;
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::command_line::command_line;
use agent_spaces_types::provider_kind::ProviderKind;
use capability_gen::implementation::CommandTemplate;
use serde_json::json;
use std::sync::Arc;

/// Provider of one function.
pub struct CommandProvider {
    label: String,
    line: String,
    command: Command,
    /// Reason why the program may not be started, if any.
    obstacle: Option<String>,
    notices: Notices,
}

impl CommandProvider {
    /// Creates the provider of a function. `obstacle` is the reason why its program may not be started, if any.
    pub fn new(
        label: &str,
        template: CommandTemplate,
        obstacle: Option<String>,
        shared: &Commands,
        notices: &Notices,
    ) -> CommandProvider {
        CommandProvider {
            label: label.to_owned(),
            line: command_line(template.words()),
            command: shared.command(template),
            obstacle,
            notices: notices.clone(),
        }
    }

    async fn answer(&self, call: &Call) -> Answer {
        if let Some(obstacle) = &self.obstacle {
            self.notices.tell(&self.label, "acceptance", obstacle);
            let message = format!("{} may not be started until its operator accepts it", self.label);
            return Err(CapabilityError::new(Code::CallDenied, message));
        }
        self.command.call(&call.params).await.map_err(|error| self.error(error))
    }

    /// Converts an error for the script. Details that only the operator may see go to the notices.
    fn error(&self, error: CommandError) -> CapabilityError {
        let label = &self.label;
        let message = format!("{label}: {error}");
        match error {
            CommandError::Invalid(_) => CapabilityError::new(Code::CallInvalid, message),
            CommandError::Start(_) => {
                self.notices.tell(label, "start", &message);
                CapabilityError::new(Code::CallUnavailable, format!("{label}: its program cannot be started"))
            }
            CommandError::Timeout { after } => {
                let details = Some(json!({ "afterMs": after.as_millis() as u64 }));
                CapabilityError { details, ..CapabilityError::new(Code::CallTimeout, message) }
            }
            CommandError::Busy { after } => {
                let details = Some(json!({ "afterMs": after.as_millis() as u64 }));
                CapabilityError { retryable: true, details, ..CapabilityError::new(Code::CallTimeout, message) }
            }
            // Already a full sentence, from the definition or the host.
            CommandError::Failed { message, exit_code, stderr, is_retryable } => {
                let details = Some(json!({ "exitCode": exit_code, "stderr": stderr }));
                CapabilityError { retryable: is_retryable, details, ..CapabilityError::failed(message) }
            }
            CommandError::Output { stderr, .. } => {
                let details = Some(json!({ "stderr": stderr }));
                CapabilityError { details, ..CapabilityError::new(Code::CallProtocol, message) }
            }
            CommandError::Broken(_) => CapabilityError::failed(message),
        }
    }
}

impl Provider for CommandProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Command
    }

    fn description(&self) -> String {
        format!("starts {} for each call", self.line)
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move { self.answer(&call).await })
    }
}
