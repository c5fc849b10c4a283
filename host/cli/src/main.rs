//! The `agent-spaces` command.

mod commands;

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Values that cross the sandbox boundary are many small allocations: large results take a fifth longer with the system
/// allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // This program also starts itself as the supervisor of one MCP server process.
    agent_spaces_mcp::process::supervise_if_asked();
    commands::main()
}
