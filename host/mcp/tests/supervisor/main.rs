//! Tests that no process of a server survives, whatever happens to the host. Has its own harness, because the first call
//! of `main` must be [`supervise_if_asked`].

#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod processes;

use agent_spaces_mcp::process::supervise_if_asked;

fn main() {
    supervise_if_asked();
    #[cfg(target_os = "linux")]
    cases::main();
    #[cfg(not(target_os = "linux"))]
    println!("skipped: needs Linux to list the processes of a server");
}
