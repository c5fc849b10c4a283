//! The `agent-spaces` command.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Started again by itself, this program watches over the process of one MCP server.
    agent_spaces_mcp::process::supervise_if_asked();
    commands::main()
}
