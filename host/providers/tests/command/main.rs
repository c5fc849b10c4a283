//! Tests of the command provider with real programs. Has its own `main`, because the first call must be
//! [`supervise_if_asked`]; runs twice, because a host may have no supervisor.
//!
//! - `rig`: fixture with a folder of scripts.
//! - `values`: input, output, and what is refused before starting.
//! - `endings`: failures, timeouts, floods, forks and signals.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]

#[cfg(target_os = "linux")]
mod endings;
#[cfg(target_os = "linux")]
mod rig;
#[cfg(target_os = "linux")]
mod values;

use agent_spaces_process::supervise_if_asked;

fn main() {
    // A host without a supervisor.
    if std::env::args().nth(1).as_deref() != Some("plain") {
        supervise_if_asked();
    }
    #[cfg(target_os = "linux")]
    rig::main();
    #[cfg(not(target_os = "linux"))]
    println!("skipped: processes are looked for as Linux lists them");
}
