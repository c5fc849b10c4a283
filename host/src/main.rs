//! The `agent-spaces` command.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
