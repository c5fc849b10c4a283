//! `agent-spaces completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print a shell completion script.
#[derive(Args)]
#[command(after_help = "Example:
  agent-spaces completions bash > ~/.local/share/bash-completion/completions/agent-spaces")]
pub(super) struct Completions {
    /// Shell to generate the script for
    shell: Shell,
}

impl Completions {
    pub(super) fn execute(self) -> u8 {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "agent-spaces", &mut script);
        super::output::print_document(&String::from_utf8_lossy(&script))
    }
}
