//! `--approvals`: the channel that asks for approval of calls.

use crate::commands::failure::Failure;
use crate::commands::session::Session;
use crate::commands::terminal;
use agent_spaces::Code;
use agent_spaces::durable::channel::DurableChannel;
use agent_spaces_approvals::{Channel, PipeChannel, StoreChannel, TerminalChannel};
use capability_gen::shown::Shown;
use clap::{Args, ValueEnum};
use std::io::IsTerminal as _;
use std::sync::Arc;

/// Approval channel.
#[derive(Args)]
pub(in crate::commands) struct ApprovalOptions {
    /// Channel for approval requests [default: terminal, if there is one, else none; durable runs: also the journal]
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
        if let Some(channel) = self.channel(session, is_stdin_taken)? {
            session.ask_through(channel);
        }
        Ok(())
    }

    /// Sets the approval channel of a session with durable runs: decisions also come from the journal.
    pub(in crate::commands) fn prepare_durable(
        &self,
        session: &mut Session,
        is_stdin_taken: bool,
        store: Arc<dyn agent_spaces::journal::Store>,
    ) -> Result<(), Failure> {
        let here = match self.approvals {
            Some(ApprovalChannel::None) => return Ok(()),
            Some(ApprovalChannel::Store) => {
                if super::shared_key(&*store)?.is_none() {
                    super::key()?;
                }
                None
            }
            _ => self.channel(session, is_stdin_taken)?,
        };
        let host_key = super::shared_key(&*store)?;
        let own = super::own_key(host_key.is_none());
        let channel = DurableChannel::new(store, move || own().into_iter().collect(), here);
        session.ask_through(Arc::new(channel.with_host_key(host_key)));
        Ok(())
    }

    /// Returns the name of the channel, for a command that continues the run.
    pub(in crate::commands) fn name(&self) -> Option<String> {
        Some(self.approvals?.to_possible_value()?.get_name().to_owned())
    }

    /// Returns these options, or the recorded ones. Terminal and pipe were those of the command that recorded them.
    pub(in crate::commands) fn or_recorded(&self, name: Option<&str>) -> ApprovalOptions {
        let recorded = name.and_then(|name| ApprovalChannel::from_str(name, false).ok());
        let is_kept = |channel: &ApprovalChannel| matches!(channel, ApprovalChannel::Store | ApprovalChannel::None);
        ApprovalOptions { approvals: self.approvals.or(recorded.filter(is_kept)) }
    }

    /// Opens the approval channel; `None` if nobody can be asked.
    fn channel(&self, session: &Session, is_stdin_taken: bool) -> Result<Option<Arc<dyn Channel>>, Failure> {
        match self.approvals {
            Some(ApprovalChannel::Pipe) if is_stdin_taken => {
                let hint = "pass the script as a file, so that stdin is free for decisions";
                Err(Failure::new(Code::ConfigUsage, "stdin cannot carry both the script and decisions", Some(hint)))
            }
            Some(ApprovalChannel::Pipe) => Ok(Some(session.wait(async {
                let report = |text: &Shown| terminal::warn(&format!("a decision was refused: {text}"));
                Arc::new(PipeChannel::new(tokio::io::stdin(), report)) as Arc<dyn Channel>
            }))),
            _ => self.channel_of_agent(),
        }
    }

    /// Opens the approval channel of an agent, whose answers are on stdout; `None` if nobody can be asked.
    pub(in crate::commands) fn channel_of_agent(&self) -> Result<Option<Arc<dyn Channel>>, Failure> {
        let channel: Arc<dyn Channel> = match self.approvals {
            Some(ApprovalChannel::None) => return Ok(None),
            // Without a terminal, nobody would see the prompt.
            None if !(std::io::stdin().is_terminal() && terminal::is_stderr_terminal()) => return Ok(None),
            None => match TerminalChannel::open() {
                Ok(channel) => Arc::new(channel.while_asking(terminal::hold)),
                Err(_) => return Ok(None),
            },
            Some(ApprovalChannel::Terminal) => {
                let opened = TerminalChannel::open();
                let channel = opened.map_err(|error| Failure::new(Code::ConfigUsage, error.to_string(), None))?;
                Arc::new(channel.while_asking(terminal::hold))
            }
            Some(ApprovalChannel::Pipe) => {
                let hint = "decide with `agent-spaces approvals` and --approvals store";
                let message = "stdin and stdout are those of the conversation, and cannot carry decisions";
                return Err(Failure::new(Code::ConfigUsage, message, Some(hint)));
            }
            Some(ApprovalChannel::Store) => {
                super::key()?;
                let look_up = || super::key().ok();
                Arc::new(StoreChannel::looking_up(super::store()?, look_up, terminal::warn::<Shown>))
            }
        };
        Ok(Some(channel))
    }
}
