//! Programs that are started for each call, with real ones. Runs its cases itself, because the first call of `main` must
//! be [`supervise_if_asked`]; and twice, because a host may go without supervisors.
//!
//! - `rig`: a folder of scripts, and commands in it.
//! - `values`: what goes in, what comes out, and what is refused before anything is started.
//! - `endings`: programs that fail, hang, flood, fork and cling.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]

#[cfg(target_os = "linux")]
mod endings;
#[cfg(target_os = "linux")]
mod rig;
#[cfg(target_os = "linux")]
mod values;

use agent_spaces_mcp::process::supervise_if_asked;

fn main() {
    // How a host works that does not supervise.
    if std::env::args().nth(1).as_deref() != Some("plain") {
        supervise_if_asked();
    }
    #[cfg(target_os = "linux")]
    rig::main();
    #[cfg(not(target_os = "linux"))]
    println!("skipped: processes are looked for as Linux lists them");
}
