//! `--approvals`: the channel that asks for approval of calls.

use crate::commands::failure::Failure;
use crate::commands::session::Session;
use crate::commands::terminal;
use agent_spaces::Code;
use agent_spaces_approvals::{Channel, PipeChannel, StoreChannel, TerminalChannel};
use capability_gen::shown::Shown;
use clap::{Args, ValueEnum};
use std::io::IsTerminal as _;
use std::sync::Arc;

/// Approval channel.
#[derive(Args)]
pub(in crate::commands) struct ApprovalOptions {
    /// Channel for approval requests [default: terminal, if there is one, else none]
    #[arg(long, value_enum, value_name = "HOW")]
    approvals: Option<ApprovalChannel>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ApprovalChannel {
    /// Prompt on this terminal
    Terminal,
    /// Another program decides: it reads events on stdout and writes decisions as lines of JSON to stdin
    Pipe,
    /// The holder of the approver token decides, with `agent-spaces approvals`
    Store,
    /// Nowhere: calls that need approval are denied
    None,
}

impl ApprovalOptions {
    /// Returns true if another program reads events and writes decisions.
    pub(in crate::commands) fn is_piped(&self) -> bool {
        self.approvals == Some(ApprovalChannel::Pipe)
    }

    /// Returns true if decisions are made with `agent-spaces approvals`.
    pub(in crate::commands) fn is_stored(&self) -> bool {
        self.approvals == Some(ApprovalChannel::Store)
    }

    /// Sets the approval channel of the session. `is_stdin_taken` is true if the script is read from stdin.
    pub(in crate::commands) fn prepare(&self, session: &mut Session, is_stdin_taken: bool) -> Result<(), Failure> {
        let channel: Arc<dyn Channel> = match self.approvals {
            Some(ApprovalChannel::None) => return Ok(()),
            // Without a terminal, nobody would see the prompt.
            None if !(std::io::stdin().is_terminal() && terminal::is_stderr_terminal()) => return Ok(()),
            None => match TerminalChannel::open() {
                Ok(channel) => Arc::new(channel.while_asking(terminal::hold)),
                Err(_) => return Ok(()),
            },
            Some(ApprovalChannel::Terminal) => {
                let opened = TerminalChannel::open();
                let channel = opened.map_err(|error| Failure::new(Code::ConfigUsage, error.to_string(), None))?;
                Arc::new(channel.while_asking(terminal::hold))
            }
            Some(ApprovalChannel::Pipe) if is_stdin_taken => {
                let hint = "pass the script as a file, so that stdin is free for decisions";
                return Err(Failure::new(
                    Code::ConfigUsage,
                    "stdin cannot carry both the script and decisions",
                    Some(hint),
                ));
            }
            Some(ApprovalChannel::Pipe) => session.wait(async {
                let report = |text: &Shown| terminal::warn(&format!("a decision was refused: {text}"));
                Arc::new(PipeChannel::new(tokio::io::stdin(), report)) as Arc<dyn Channel>
            }),
            Some(ApprovalChannel::Store) => {
                super::key()?;
                let look_up = || super::key().ok();
                Arc::new(StoreChannel::looking_up(super::store()?, look_up, terminal::warn::<Shown>))
            }
        };
        session.ask_through(channel);
        Ok(())
    }
}
