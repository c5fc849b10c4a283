//! The `agent-spaces` command.

mod commands;

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Values that cross are made of many small parts: with the system's allocator, large results take a fifth longer.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // Started again by itself, this program watches over the process of one MCP server.
    agent_spaces_mcp::process::supervise_if_asked();
    commands::main()
}
