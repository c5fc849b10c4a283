//! Nothing of a server is left, whatever happens to the host. Runs its cases itself, because the first call of `main`
//! must be [`supervise_if_asked`].

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
    println!("skipped: the processes of a server are looked for as Linux lists them");
}
