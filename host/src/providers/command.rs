//! Programs that are started for each call, once their user has accepted the file that names them.

use super::{Answering, Provider, ProviderKind};
use crate::handlers::{Answer, Call, CapabilityError};
use crate::pipeline::Notices;
use crate::project::{DefinedCommand, DefinedCommands};
use crate::trust::command_line;
use agent_spaces_providers::command::{Command, CommandError, Commands};
use serde_json::json;
use std::sync::Arc;

/// Answers one function.
pub(crate) struct CommandProvider {
    label: String,
    line: String,
    command: Command,
    /// Why nothing may be started.
    obstacle: Option<String>,
    notices: Notices,
}

impl CommandProvider {
    pub(crate) fn new(
        command: &DefinedCommand,
        commands: &DefinedCommands,
        shared: &Commands,
        notices: &Notices,
    ) -> CommandProvider {
        let template = command.template.clone();
        CommandProvider {
            label: command.label.clone(),
            line: command_line(template.words()),
            command: shared.command(template),
            obstacle: commands.acceptance.obstacle(),
            notices: notices.clone(),
        }
    }

    async fn answer(&self, call: &Call) -> Answer {
        if let Some(obstacle) = &self.obstacle {
            self.notices.tell(&self.label, "acceptance", obstacle);
            let message = format!("{} may not be started until its operator accepts it", self.label);
            return Err(CapabilityError::new("call.denied", message));
        }
        self.command.call(&call.params).await.map_err(|error| self.error(error))
    }

    /// What the script is told. What only the operator may know goes to the operator.
    fn error(&self, error: CommandError) -> CapabilityError {
        let label = &self.label;
        let message = format!("{label}: {error}");
        match error {
            CommandError::Invalid(_) => CapabilityError::new("call.invalid", message),
            CommandError::Start(_) => {
                self.notices.tell(label, "start", &message);
                CapabilityError::new("call.unavailable", format!("{label}: its program cannot be started"))
            }
            CommandError::Timeout { after } => {
                let details = Some(json!({ "afterMs": after.as_millis() as u64 }));
                CapabilityError { details, ..CapabilityError::new("call.timeout", message) }
            }
            CommandError::Busy { after } => {
                let details = Some(json!({ "afterMs": after.as_millis() as u64 }));
                CapabilityError { retryable: true, details, ..CapabilityError::new("call.timeout", message) }
            }
            // The definition's own words, or a sentence of its own.
            CommandError::Failed { message, exit_code, stderr, is_retryable } => {
                let details = Some(json!({ "exitCode": exit_code, "stderr": stderr }));
                CapabilityError { retryable: is_retryable, details, ..CapabilityError::failed(message) }
            }
            CommandError::Output { stderr, .. } => {
                let details = Some(json!({ "stderr": stderr }));
                CapabilityError { details, ..CapabilityError::new("call.protocol", message) }
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
